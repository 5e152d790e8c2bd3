/*
 * launch_order.h: order between launches that follow each other on each of several devices.
 *
 * No thread of a launch begins on a device before the launch before it has ended there. So a launch
 * comes after all earlier ones of its own device, for every proxy, and after whatever those have
 * acquired. It does not come after earlier launches of other devices: only a release and an acquire
 * bring that order.
 */
#ifndef SIM_ORDER_LAUNCH_ORDER_H
#define SIM_ORDER_LAUNCH_ORDER_H

#include "sim/order/release.h"

void launch_order_begins(void);
/* All threads of the cluster have ended, and its asynchronous work is complete. */
void launch_order_retire(struct sim_cluster *cluster);

/* Is (slot, epoch) of the cluster ordered before T's next access because a launch has ended: before
 * T's own launch, or before one that T has acquired from? */
bool launch_order_knows(const struct sim_thread *thread, int cluster, int slot, uint32_t epoch,
                        bool for_async_proxy);

#endif
