"""The text of exported C code, with places to be filled in between at signs."""

HEADER = """\
/*
 * @name@: a controller, exported by driftwise as plain C99.
 *
 *   sample : @width@ numbers, the @kind@
 *   input  : @du@ numbers
 *   memory : @lags@ past disturbances; the model has @nz@ coordinates, @n@ of them states
 *
 * Use, with one state for each machine:
 *
 *     @name@_state s;
 *     @name@_init(&s);
 *     once a sampling period:
 *         read the sample x;
 *         @name@_step(&s, x, u);       a null pointer instead of x if the sample is missing
 *         give u to the actuator;
 *         @name@_applied(&s, v);       only if the actuator did v instead of u, such as in manual mode
 *
 * The input is always finite and within its limits. A sample that is missing, NaN, infinite or beyond 1e100 is replaced
 * by what the model expects. Before the first step, @name@_applied says where the actuator is, for a start
 * without a jump.
 *
 * Every step does the same number of operations, and nothing is allocated. To get the same bits as in Python, compile
 * for IEEE doubles without fused operations and without -ffast-math:
 *
 *     cc -std=c99 -O2 -ffp-contract=off -c @name@.c
 *
 * With -D@NAME@_MAIN the file is a program that reads commands and writes inputs; see its end.
 */

#if defined(__clang__) || !defined(__GNUC__)
#pragma STDC FP_CONTRACT OFF /* GNU C does not know it: use -ffp-contract=off there */
#endif

/* For a header: from here ... */
enum {
    @NAME@_SIZE = @nz@,   /* coordinates of the model */
    @NAME@_STATES = @n@, /* how many of them are states */
    @NAME@_INPUTS = @du@,
    @NAME@_WIDTH = @width@, /* length of a sample */
    @NAME@_LAGS = @lags@
};

typedef struct {
    double z[@NAME@_SIZE]; /* state of the model, relative to the set-point */
    double u[@NAME@_INPUTS]; /* last input, as it was applied */
    double past[@NAME@_LAGS][@NAME@_STATES]; /* a ring of disturbances */
@gap@    int head; /* row of the newest disturbance */
    int begun; /* whether there has been a step, */
    int seen; /* and a sample that could be used */
} @name@_state;

void @name@_init(@name@_state *s);
void @name@_step(@name@_state *s, const double *x, double *u);
void @name@_applied(@name@_state *s, const double *u);
/* ... to here. */

@constants@

#define @NAME@_LARGEST @largest@

/* A number that can be computed with: the nearest one, or 0 for what is not a number. */
static double @name@_tame(double value)
{
    if (value <= @NAME@_LARGEST && value >= -@NAME@_LARGEST)
        return value;
    if (value > 0.0)
        return @NAME@_LARGEST;
    return value < 0.0 ? -@NAME@_LARGEST : 0.0;
}

void @name@_init(@name@_state *s)
{
    int i, k;
    for (i = 0; i < @NAME@_SIZE; ++i)
        s->z[i] = 0.0;
    for (i = 0; i < @NAME@_LAGS; ++i)
        for (k = 0; k < @NAME@_STATES; ++k)
            s->past[i][k] = 0.0;
    for (i = 0; i < @NAME@_INPUTS; ++i)
        s->u[i] = @name@_first[i];
@forget@    s->head = 0;
    s->begun = 0;
    s->seen = 0;
}

void @name@_applied(@name@_state *s, const double *u)
{
    int i;
    for (i = 0; i < @NAME@_INPUTS; ++i)
        if (!(u[i] <= @NAME@_LARGEST && u[i] >= -@NAME@_LARGEST))
            return; /* what is not a number is not believed */
    for (i = 0; i < @NAME@_INPUTS; ++i)
        s->u[i] = u[i];
}

"""

STATES = """
    for (i = 0; i < @NAME@_STATES; ++i) {
        w[i] = usable && s->seen ? @name@_tame(sample[i] - ahead[i]) : 0.0;
        s->z[i] = usable ? sample[i] : ahead[i];
    }
    if (usable)
        s->seen = 1;
"""

OBSERVER = """
    for (i = 0; i < @NAME@_STATES; ++i) {
        total = 0.0;
        for (k = 0; k < @NAME@_WIDTH; ++k)
            total += @name@_L[i][k] * s->gap[k];
        w[i] = @name@_tame(total);
        s->z[i] = @name@_tame(ahead[i] + w[i]);
    }
    for (i = 0; i < @NAME@_WIDTH; ++i) {
        total = sample[i];
        for (k = 0; k < @NAME@_STATES; ++k)
            total -= @name@_C[i][k] * s->z[k];
        s->gap[i] = usable ? @name@_tame(total) : 0.0;
    }
    if (usable)
        s->seen = 1;
"""

STEP = """\
void @name@_step(@name@_state *s, const double *x, double *u)
{
    double ahead[@NAME@_SIZE], sample[@NAME@_WIDTH], *w, total, least, most;
    int i, k, a, row, usable = x != 0;

    /* Where the model expects the state. */
    for (i = 0; i < @NAME@_SIZE; ++i) {
        total = 0.0;
        if (s->begun) {
            for (k = 0; k < @NAME@_SIZE; ++k)
                total += @name@_A[i][k] * s->z[k];
            for (k = 0; k < @NAME@_INPUTS; ++k)
                total += @name@_B[i][k] * (s->u[k] - @name@_rest[k]);
        }
        ahead[i] = @name@_tame(total);
    }

    /* The sample, relative to the set-point. */
    for (i = 0; i < @NAME@_WIDTH; ++i) {
        sample[i] = (x != 0 ? x[i] : 0.0) - @name@_level[i];
        if (!(sample[i] <= @NAME@_LARGEST && sample[i] >= -@NAME@_LARGEST))
            usable = 0;
    }

    /* What the model did not expect, and the state. */
    s->head = s->head > 0 ? s->head - 1 : @NAME@_LAGS - 1;
    w = s->past[s->head];
@observe@
    for (i = @NAME@_STATES; i < @NAME@_SIZE; ++i)
        s->z[i] = ahead[i];

    /* The input: the gain, the answers to past disturbances, then rate and limits. */
    for (a = 0; a < @NAME@_INPUTS; ++a) {
        total = @name@_base[a];
        for (k = 0; k < @NAME@_SIZE; ++k)
            total -= @name@_K[a][k] * s->z[k];
        for (i = 0; i < @NAME@_LAGS; ++i) {
            row = s->head + i < @NAME@_LAGS ? s->head + i : s->head + i - @NAME@_LAGS;
            for (k = 0; k < @NAME@_STATES; ++k)
                total += @name@_M[i][a][k] * s->past[row][k];
        }
        total = @name@_tame(total);
        least = s->u[a] - @name@_rate[a];
        most = s->u[a] + @name@_rate[a];
        if (total < least)
            total = least;
        if (total > most)
            total = most;
        if (total < @name@_low[a])
            total = @name@_low[a];
        if (total > @name@_high[a])
            total = @name@_high[a];
        s->u[a] = total;
        u[a] = total;
    }
    s->begun = 1;
}
"""

TEST = """
#ifdef @NAME@_MAIN
/*
 * Reads "s" and a sample, "m" for a missing one, "a" and an applied input, or "r" to begin again, and writes the
 * input after every sample in hexadecimal.
 */
#include <stdio.h>

static int @name@_read(double *out, int count)
{
    int i;
    for (i = 0; i < count; ++i)
        if (scanf("%lf", &out[i]) != 1)
            return 0;
    return 1;
}

int main(void)
{
    @name@_state s;
    double x[@NAME@_WIDTH], u[@NAME@_INPUTS];
    char verb;
    int i;
    @name@_init(&s);
    while (scanf(" %c", &verb) == 1) {
        if (verb == 'r') {
            @name@_init(&s);
        } else if (verb == 'a') {
            if (!@name@_read(u, @NAME@_INPUTS))
                return 1;
            @name@_applied(&s, u);
        } else if (verb == 'm' || (verb == 's' && @name@_read(x, @NAME@_WIDTH))) {
            @name@_step(&s, verb == 'm' ? 0 : x, u);
            for (i = 0; i < @NAME@_INPUTS; ++i)
                printf("%a%c", u[i], i + 1 < @NAME@_INPUTS ? ' ' : '\\n');
        } else {
            return 1;
        }
    }
    return 0;
}
#endif
"""
