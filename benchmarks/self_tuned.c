/* Self-tuned Scream on regression, as plainly as C allows: what `benchmarks/rounds.py` compares `play` with.

   Base-learners come in pairs of one step size: the first of a pair moves in every round, the second waits until its
   gradients outweigh the price of a move. The domain is a box if there are limits, else a ball around 0. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct problem {
    long rounds, dim, most;         /* most: the largest number of base-learners */
    double switching_cost, radius, diameter, factor, growth, dead_zone;
    const double *features, *targets, *steps, *low, *high, *start;
    double *decisions, *losses, *moves;
};

static double square(const double *x, long dim)
{
    double sum = 0.0;
    for (long k = 0; k < dim; k++) sum += x[k] * x[k];
    return sum;
}

static void project(const struct problem *p, double *x)
{
    if (p->low) {
        for (long k = 0; k < p->dim; k++) x[k] = x[k] < p->low[k] ? p->low[k] : x[k] > p->high[k] ? p->high[k] : x[k];
        return;
    }
    double far = square(x, p->dim);
    if (far > p->radius * p->radius) {
        double ratio = p->radius / sqrt(far);
        for (long k = 0; k < p->dim; k++) x[k] *= ratio;
    }
}

static void weigh(const double *totals, double rate, long count, double *weights)
{
    double least = totals[0], mass = 0.0;
    for (long i = 1; i < count; i++)
        if (totals[i] < least) least = totals[i];
    for (long i = 0; i < count; i++) {
        weights[i] = exp(-rate * (totals[i] - least));
        mass += weights[i];
    }
    for (long i = 0; i < count; i++) weights[i] /= mass;
}

static void blend(const double *weights, const double *points, long count, long dim, double *out)
{
    for (long k = 0; k < dim; k++) out[k] = 0.0;
    for (long i = 0; i < count; i++)
        for (long k = 0; k < dim; k++) out[k] += weights[i] * points[i * dim + k];
}

/* What clipping knows: how many gradients, the last and the largest of them, and what it has cut off in all. */
struct sizes {
    double counted, last, largest, cut;
};

/* The part of a gradient that counts: up to 3 and later 10 times the usual size, or the last one if that was larger. A
   first gradient that turns out to be absurd is taken back. */
static double kept_share(struct sizes *s, double size, double rounds, double *seen, double *squares)
{
    if (size == 0.0) return 1.0;
    double limit = INFINITY;
    if (s->counted > 0.0) {
        double usual = fmax(sqrt(*squares / s->counted), s->last);
        limit = fmin(fmax(0.5 * sqrt(s->counted), 3.0), 10.0) * usual;
        if (size > 100.0 * limit) limit = usual;
    }
    if (s->counted == 1.0 && s->last > 10.0 * size) {
        s->cut += s->last;
        *seen = *squares = 0.0;
    }
    s->counted += 1.0;
    s->last = size;
    s->largest = fmax(s->largest, size);
    double cut = s->cut + (size - limit);
    if (size <= limit || cut > sqrt(rounds) * s->largest) return 1.0;
    s->cut = cut;
    return limit / size;
}

void self_tuned(const struct problem *p)
{
    long dim = p->dim, most = p->most, count = 2;
    struct sizes sizes = {0.0, 0.0, 0.0, 0.0};
    double price = p->switching_cost, seen = 0.0, squares = 0.0, mixture = 0.0, rate = 0.0, spent = 0.0, power = 2.0;
    double *room = calloc(2 * most * dim + 5 * most + 5 * dim, sizeof(double));
    double *points = room, *held = points + most * dim, *totals = held + most * dim, *moved = totals + most;
    double *weights = moved + most, *before = weights + most, *suffered = before + most;
    double *decision = suffered + most, *centre = decision + dim, *gradient = centre + dim;
    double *beyond = gradient + dim, *trial = beyond + dim;

    for (long i = 0; i < 2; i++) memcpy(points + i * dim, p->start, sizeof(double) * dim);
    memcpy(decision, p->start, sizeof(double) * dim);
    weights[0] = weights[1] = 0.5;

    for (long t = 0; t < p->rounds; t++) {
        /* Act: what the decision costs, and how far it is from the last one. */
        const double *x = p->features + t * dim;
        double *w = p->decisions + t * dim, score = 0.0, move = 0.0;
        for (long k = 0; k < dim; k++) {
            w[k] = decision[k];
            score += w[k] * x[k];
        }
        if (t > 0)
            for (long k = 0; k < dim; k++) move += (w[k] - w[k - dim]) * (w[k] - w[k - dim]);
        p->moves[t] = sqrt(move);
        double residual = score - p->targets[t];
        p->losses[t] = 0.5 * residual * residual;

        /* Observe: judge every base-learner, and let it move. */
        double shift = 0.0, scale = 0.0, least = INFINITY, highest = -INFINITY, mean = 0.0;
        for (long k = 0; k < dim; k++) {
            gradient[k] = residual * x[k];
            shift += gradient[k] * w[k];
            scale += fabs(gradient[k] * w[k]);
        }
        double size = sqrt(square(gradient, dim)), part = kept_share(&sizes, size, t + 1.0, &seen, &squares);
        if (part < 1.0) {
            for (long k = 0; k < dim; k++) gradient[k] *= part;
            shift *= part, scale *= part, size *= part;
        }
        squares += size * size;
        seen += size * size + price * size;
        double unit = seen > 0.0 ? 1.0 / sqrt(seen) : 0.0;
        for (long i = 0; i < count; i++) {
            double *point = points + i * dim, *sum = held + i * dim, inner = 0.0, distance = 0.0;
            const double *direction = gradient;
            int goes = 1;
            for (long k = 0; k < dim; k++) inner += gradient[k] * point[k];
            suffered[i] = inner + price * moved[i] - shift;
            if (i % 2) {
                for (long k = 0; k < dim; k++) sum[k] += gradient[k];
                double asked = square(sum, dim);
                goes = asked > price * price;
                if (goes) {
                    double share = 1.0 - price / sqrt(asked);
                    for (long k = 0; k < dim; k++) {
                        beyond[k] = sum[k] * share;
                        sum[k] -= beyond[k];
                    }
                    direction = beyond;
                }
            }
            if (goes) {
                for (long k = 0; k < dim; k++) trial[k] = point[k] - p->steps[i] * unit * direction[k];
                project(p, trial);
                for (long k = 0; k < dim; k++) {
                    distance += (trial[k] - point[k]) * (trial[k] - point[k]);
                    point[k] = trial[k];
                }
            }
            moved[i] = sqrt(distance);
            if (suffered[i] < least) least = suffered[i];
            if (suffered[i] > highest) highest = suffered[i];
        }

        /* Tune Hedge: the mixability gap at the rate that the weights were made with. */
        for (long i = 0; i < count; i++) mean += weights[i] * suffered[i];
        if (highest - least > 1e-13 * scale) {
            double above = mean - least, fall = 0.0, mix = 0.0;
            if (rate > 0.0) {
                for (long i = 0; i < count; i++) fall += weights[i] * expm1(-rate * (suffered[i] - least));
                mix = -log1p(fall) / rate;
            }
            mix = mix > above ? above : mix;
            spent += above - (mix > 0.0 ? mix : 0.0);
        }
        mixture += mean;
        for (long i = 0; i < count; i++) {
            totals[i] += suffered[i];
            before[i] = weights[i];
        }
        rate = spent > 0.0 ? p->factor / spent : 0.0;
        weigh(totals, rate, count, weights);
        blend(weights, points, count, dim, centre);
        double turned = 0.0;
        for (long i = 0; i < count; i++) turned += fabs(weights[i] - before[i]);

        /* Follow the mixture, but no farther than into the dead zone around it. */
        double far = 0.0, rounds = (double)(t + 1);
        for (long k = 0; k < dim; k++) far += (centre[k] - w[k]) * (centre[k] - w[k]);
        far = sqrt(far);
        double zone = p->dead_zone * p->diameter / sqrt(rounds) * (price / (price + sqrt(squares / rounds)));
        double share = far > zone ? (far - zone) / far : 0.0;
        for (long k = 0; k < dim; k++) decision[k] = w[k] + share * (centre[k] - w[k]);

        /* Newcomers begin where the mixture is. */
        int joined = 0;
        while (count + 2 <= most && 0.25 * power * power < 1.0 + p->growth * (rounds + 1.0) && power <= rounds + 1.0) {
            for (long i = count; i < count + 2; i++) {
                memcpy(points + i * dim, centre, sizeof(double) * dim);
                totals[i] = mixture;
            }
            count += 2;
            power *= 2.0;
            joined = 1;
        }
        if (joined) weigh(totals, rate, count, weights);
        spent += price * p->diameter * turned;
    }
    free(room);
}
