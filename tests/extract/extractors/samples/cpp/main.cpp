#include "shape.hpp"
using namespace std;
int main() {
  geo::Square s;
  s.area();
  s.twice();
  std::unique_ptr<geo::Shape> p = std::make_unique<geo::Square>();
  p->twice();
  auto* q = new geo::Square();
  q->area();
  auto f = [&](int x) { return geo::total({}); };
  return f(1);
}
