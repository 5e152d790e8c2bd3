/*
 * statistics.h: order statistics of a few samples.
 */
#ifndef HARNESS_STATISTICS_H
#define HARNESS_STATISTICS_H

/* The p-quantile (0 <= p <= 1), linear between the neighbouring ranks. `samples` is left alone;
 * count >= 1. */
double quantile(const double *samples, int count, double p);
double median(const double *samples, int count);
/* (third quartile - first quartile) / median; 0 if the median is 0. */
double quartile_spread(const double *samples, int count);

#endif
