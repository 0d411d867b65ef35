#ifndef LIST_H
#define LIST_H
#define LIMIT 3
typedef struct list { int n; struct list *next; } list;
struct pair { int a; };
int list_add(list *l, int n);
#endif
