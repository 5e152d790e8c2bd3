/* more_checks.c: what docs_check makes and checks besides, where part two is. */
#include <stddef.h>

#include "tools/book/docs_drawn.h"
#include "tools/book/docs_ratios.h"
#include "tools/book/docs_suite.h"

page_check *const more_checks[] = {suites_check, ratios_check, drawn_check, NULL};
