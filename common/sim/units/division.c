/*
 * division.c: integers divided by zero.
 *
 * Kernels are compiled with -fsanitize=integer-divide-by-zero (cmake/Toolchain.cmake), so the
 * compiler calls this function before such a division. The name, the parameters' types and the
 * record are the compiler's; its own library for the option is not linked.
 */
#include "sim/core/hazards.h"

struct checked_division {
    const char *file;
    uint32_t line, column;
    const void *type; /* of the operands */
};

void __ubsan_handle_divrem_overflow(void *division, void *a, void *b);

void __ubsan_handle_divrem_overflow(void *division, void *a, void *b) {
    (void)a, (void)b;
    const struct checked_division *const at = division;
    struct sim_thread *const thread = sim_thread();
    if (!thread) return; /* on the host: the division itself ends the program */
    char where[160], wrapper[224] = "";
    snprintf(where, sizeof where, "%s:%d", source_name(thread->self.file), thread->self.line);
    sim_at(at->file, (int)at->line);
    if (thread->self.line != (int)at->line)
        snprintf(wrapper, sizeof wrapper, " The last wrapper\n    that was called is at %s.",
                 where);
    sim_fatal(
        "division-by-zero", thread,
        "an integer is divided by zero\n"
        "    A GPU does not stop there. It goes on with a value that the PTX ISA leaves open, "
        "so the fault may show\n    elsewhere or not at all.%s",
        wrapper);
}
