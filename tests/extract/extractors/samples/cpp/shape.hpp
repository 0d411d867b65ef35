#pragma once
#include <memory>
#include <vector>
namespace geo {
/// A shape.
class Shape {
 public:
  virtual ~Shape() = default;
  virtual double area() const = 0;
  double twice() const;
  static int count;
};
template <typename T> class Box { public: T get() { return value; } T value; };
struct Square : public Shape { double area() const override { return side * side; } double side; };
double total(const std::vector<Square>& all);
}
