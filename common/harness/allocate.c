#include "harness/allocate.h"

#include <pthread.h>
#include <stdlib.h>

#include "backend.h"
#include "harness/message.h"

void no_memory_for(const char *what) {
    static pthread_mutex_t end = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&end); /* for ever: of several threads that fail, one complains */
    complain("no memory for %s; choose smaller sizes", what);
    exit(EXIT_NO_DEVICE);
}

void *allocate(size_t count, size_t size, const char *what) {
    void *const memory = calloc(count, size);
    if (!memory) no_memory_for(what);
    return memory;
}
