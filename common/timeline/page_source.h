/*
 * page_source.h: the page's text before and after its data, and the style of figures; page_source.c
 * is made from page/ and figure_style.svg by embed.cmake.
 */
#ifndef TIMELINE_PAGE_SOURCE_H
#define TIMELINE_PAGE_SOURCE_H

#include <stddef.h>

extern const unsigned char page_head[], page_tail[], figure_style[];
extern const size_t page_head_size, page_tail_size, figure_style_size;

#endif
