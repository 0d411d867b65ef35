#include "list.h"
#include <stdio.h>
static int check(int n) { return n < LIMIT; }
/* Adds. */
int list_add(list *l, int n) { if (check(n)) printf("x"); l->n = n; return helper(n); }
