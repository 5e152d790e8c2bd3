/*
 * parser.c: what the parser makes of PTX, and what it says about PTX that is broken.
 */
#include <stdio.h>
#include <string.h>

#include "program/program.h"
#include "program/sites.h"
#include "ptx/demangle.h"

#define HEAD ".version 8.0\n.target sm_90a\n.address_size 64\n"
#define BODY(text)                                                                                 \
    HEAD ".entry k(.param .u64 a) {\n.reg .b32 %r<4>; .reg .pred %p<2>;\n" text "\n}\n"

static int failures;

static void expect(bool holds, const char *what, const char *found) {
    if (holds) return;
    printf("%s: found %s\n", what, found);
    ++failures;
}

static void broken(const char *text, const char *message) {
    char error[256] = "";
    struct ptx_module *const module = ptx_parse("k.ptx", text, error, sizeof error);
    expect(!module && strstr(error, message), message, module ? "no mistake" : error);
    if (module) ptx_free(module);
}

static void check_broken(void) {
    broken("__global__ void k() {}", "k.ptx:1: PTX begins with .version");
    broken("", "at the end of the text");
    broken(HEAD ".entry k( {", "'.param' expected");
    broken(BODY("add.s32 %r0, %r1, %r2"), "';' expected");
    broken(BODY("bra $nowhere;"), "a branch to $nowhere, which is no label");
    broken(BODY("@%r0 bra $l; $l: ret;"), "guard is a predicate");
    broken(BODY(".reg .b32 %r1;"), "%r1 is declared twice");
    broken(BODY(".reg .b33 %x;"), "a register's type expected");
    broken(HEAD ".entry k() { ret;", "k does not end");
    broken(BODY("add.s32 %r0, [%r1;"), "']' expected");
    broken(HEAD ".global .b32 x[2] = {1, 2, 3};", "more initializers than elements");
    broken(HEAD ".address_size 32\n", "only 64-bit addresses");
}

/* An instruction that is refused, why, and that one in code that nothing reaches is not. */
static void refused(const char *instruction, const char *why) {
    char text[512], error[256] = "";
    snprintf(text, sizeof text,
             HEAD ".entry k() {\n.reg .b32 %%r<4>; .reg .f32 %%f<4>; .reg .b64 %%d<4>;\n"
                  ".reg .pred %%p<2>;\n%s\nret;\ntcgen05.fence::before_thread_sync;\n}\n",
             instruction);
    struct ptx_module *const module = ptx_parse("k.ptx", text, error, sizeof error);
    expect(module != NULL, instruction, error);
    if (!module) return;
    const struct program *const p = program_of(module, &module->function[0]);
    if (why) {
        expect(p->refusals == 1 && strstr(p->refusal[0].why, why), why,
               p->refusals ? p->refusal[0].why : "that it is modelled");
        expect(p->refusals == 1 && p->refusal[0].first->line == 7, "its line", "another");
    } else {
        expect(!p->refusals, instruction, p->refusals ? p->refusal[0].why : "");
    }
    ptx_free(module);
}

static void check_refused(void) {
    refused("add.s32 %r0, %r1, %r2;", NULL);
    refused("mad.lo.cc.s16 %r0, %r1, %r2, %r3;", "it is not modelled");
    refused("frobnicate.b32 %r0;", "it is not modelled");
    refused("add.s32 %r0, %r1, %d2;", "another size");
    refused("add.f32 %f0, %f1, 1;", "a whole number");
    refused("tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%d0, {%f0, %f1}];", "textures");
    refused("ld.global.v2.b32 %r0, [%d0];", "another length");
    refused("ld.release.gpu.global.b64 %d1, [%d0];", "no such instruction");
    refused("ld.acquire.gpu.global.b64 %d1, [%d0];", NULL);
    refused("atom.global.exch.f32 %f0, [%d0], %f1;", "atomic operation");
    refused("mov.u64 %d0, %current_graph_exec;", "a special register");
    refused("cp.async.ca.shared.global [%r0], [%d0], 12;", "4, 8 or 16 bytes");
    refused("mbarrier.arrive.release.gpu.shared::cta.b64 %d0, [%r0];", "this scope");
    refused("red.async.relaxed.cluster.shared::cluster.add.u32 [%r0], %r1, [%r2];",
            "this form of it");
    refused("wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r0, %r1, %r2, %r3}, %d0, %d1, %p0;",
            NULL);
    refused("wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8.satfinite {%r0, %r1, %r2, %r3}, %d0, "
            "%d1, %p0;",
            NULL);
    refused(
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.satfinite {%r0, %r1, %r2, %r3}, %d0, "
        "%d1, %p0, 1, 1, 0, 0;",
        "only sums of fp32");
    refused("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%r0, %r1, %r2, %r3}, %d0, %d1, "
            "%r4, 0, %p0, 1, 1, 0, 0;",
            "this form of it");
}

/* Two lists of one wgmma and another, of the same registers in another order. */
static void check_lists(void) {
    static const char text[] = HEAD
        ".entry k() {\n.reg .f32 %f<4>; .reg .b64 %d<2>; .reg .pred %p<1>;\n"
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f3,%f2,%f1,%f0}, %d0, %d1, %p0, 1, 1, "
        "0, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %d0, %d1, %p0, 1, 1, "
        "0, 0;\nret;\n}\n";
    char error[256];
    struct ptx_module *const module = ptx_parse("k.ptx", text, error, sizeof error);
    const struct program *const p = program_of(module, &module->function[0]);
    expect(p->refusals == 1 && p->refusal[0].count == 1 && p->refusal[0].first->line == 7 &&
               strstr(p->refusal[0].why, "in another order"),
           "a list in another order is refused, and only that",
           p->refusals ? p->refusal[0].why : "none");
    ptx_free(module);
}

static void check_places(void) {
    static const char text[] = HEAD
        ".entry k() {\n.reg .b32 %r<2>;\n.loc 1 10 5\n.loc 2 20 3, function_name $L__info_string0, "
        "inlined_at 1 10 5\nadd.s32 %r0, %r0, %r1;\nret;\n}\n"
        ".file 1 \"/a/kernel.cu\"\n.file 2 \"/a/b/verb.h\"\n.section .debug_str\n{\n"
        "$L__info_string0:\n.b8 95,90,51,102,111,111,105,0\n}\n";
    char error[256];
    struct ptx_module *const module = ptx_parse("k.ptx", text, error, sizeof error);
    expect(module != NULL, "places", error);
    if (!module) return;
    const struct ptx_place *const place = module->function[0].instruction[0].place;
    expect(place && place->line == 20 && !strcmp(place->file, "/a/b/verb.h") &&
               !strcmp(place->function, "foo"),
           "foo at /a/b/verb.h:20", place ? place->file : "no place");
    expect(place && place->outer && place->outer->line == 10 &&
               !strcmp(place->outer->file, "/a/kernel.cu") && !place->outer->outer,
           "called at /a/kernel.cu:10", place && place->outer ? place->outer->file : "no call");
    ptx_free(module);
}

/* Of however many calls. */
static void check_long_chain(void) {
    enum { CALLS = 300 };
    static struct ptx_place place[CALLS];
    const struct ptx_module module = {.file = "k.ptx"};
    const struct ptx_instruction instruction = {.place = &place[0]};
    int line;
    for (int i = 0; i < CALLS; ++i)
        place[i] = (struct ptx_place){.file = "/a/b/kernel.cu",
                                      .line = 1000 + i,
                                      .function = i + 1 < CALLS ? "verb" : NULL,
                                      .outer = i + 1 < CALLS ? &place[i + 1] : NULL};
    const char *const chain = site_chain(site_file(&module, &instruction, &line));
    expect(line == 1000 && chain && strstr(chain, "verb (b/kernel.cu:1298), called at line 1299"),
           "the outermost of 300 calls", chain ? chain : "no chain");
}

static void check_names(void) {
    static const char *const names[][2] = {
        {"_Z6kernel9gemm_args", "kernel"},
        {"_ZN4cute17SM90_TMA_STORE_2D4copyEPKvS2_ii", "cute::SM90_TMA_STORE_2D::copy"},
        {"_ZN7cutlass13device_kernelINS_4gemm6kernelEEEvNT_6ParamsE", "cutlass::device_kernel"},
        {"_ZN39_INTERNAL_3c89ddf6_9_kernel_cu_6eed7e888consumerEP4smem", "consumer"},
        {"main", "main"}};
    struct arena arena = {NULL};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        const char *const found = demangle(&arena, names[i][0]);
        expect(!strcmp(found, names[i][1]), names[i][1], found);
    }
    arena_free(&arena);
}

int main(void) {
    check_broken();
    check_refused();
    check_lists();
    check_places();
    check_long_chain();
    check_names();
    printf("%d failures\n", failures);
    return failures > 0;
}
