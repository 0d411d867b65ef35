#include "list.h"
typedef int (*callback)(int);
int helper(int n) { return n; }
static int check(int n) { return n; }
int apply(callback f, int n) { return f(n); }
int main(void) { list l; struct pair p; list_add(&l, 1); check(2); return apply(helper, 3); }
