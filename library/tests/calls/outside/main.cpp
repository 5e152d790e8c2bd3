/* main.cpp: the same in C++. */
#include "main.c"
