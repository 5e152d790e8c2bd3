/* main.cpp: the same in C++. */
#include "tests/library/outside/main.c"
