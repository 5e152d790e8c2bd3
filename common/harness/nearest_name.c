#include "harness/nearest_name.h"

#include <stddef.h>
#include <string.h>

enum { LONGEST = 31, FAR = 100 };

static int least(int a, int b) { return a < b ? a : b; }

/* The fewest letters that are put in, left out, replaced, or exchanged with the next one. */
static int edits_between(const char *a, const char *b) {
    const int length = (int)strlen(a), end = (int)strlen(b);
    int edits[LONGEST + 1][LONGEST + 1];
    if (length > LONGEST || end > LONGEST) return FAR;
    for (int i = 0; i <= length; ++i)
        for (int j = 0; j <= end; ++j) {
            int *const here = &edits[i][j];
            *here = i && j ? edits[i - 1][j - 1] + (a[i - 1] != b[j - 1]) : i + j;
            if (i && j) *here = least(*here, 1 + least(edits[i - 1][j], edits[i][j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                *here = least(*here, 1 + edits[i - 2][j - 2]);
        }
    return edits[length][end];
}

/* Dashes in front count for nothing. Of four letters one may be wrong, of more two. */
void near_consider(struct near *near, const char *name) {
    const char *const text = near->text + strspn(near->text, "-");
    const char *const word = name + strspn(name, "-");
    const size_t length = strlen(word);
    const int edits = edits_between(text, word);
    if (edits > (length < 3 ? 0 : length < 5 ? 1 : 2) || (near->name && edits >= near->edits))
        return;
    near->name = name;
    near->edits = edits;
}
