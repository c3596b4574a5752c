/* Scream on drifting regression, as plainly as C allows: what `benchmarks/rounds.py` compares `play` with. */
#include <math.h>
#include <string.h>

void scream(long rounds, long dim, long count, const double *features, const double *targets, const double *steps,
            const double *log_prior, double rate, double switching_cost, double radius, double *points,
            double *previous, double *log_weights, double *weights, double *gradient, double *decisions,
            double *losses, double *moves)
{
    memset(points, 0, sizeof(double) * count * dim);
    memset(previous, 0, sizeof(double) * count * dim);
    memcpy(log_weights, log_prior, sizeof(double) * count);
    for (long t = 0; t < rounds; t++) {
        const double *x = features + t * dim;
        double *w = decisions + t * dim;

        double top = log_weights[0], total = 0.0;
        for (long i = 1; i < count; i++)
            if (log_weights[i] > top) top = log_weights[i];
        for (long i = 0; i < count; i++) {
            weights[i] = exp(log_weights[i] - top);
            total += weights[i];
        }
        for (long k = 0; k < dim; k++) w[k] = 0.0;
        for (long i = 0; i < count; i++) {
            weights[i] /= total;
            for (long k = 0; k < dim; k++) w[k] += weights[i] * points[i * dim + k];
        }

        double moved = 0.0, score = 0.0;
        if (t > 0)
            for (long k = 0; k < dim; k++) moved += (w[k] - w[k - dim]) * (w[k] - w[k - dim]);
        moves[t] = sqrt(moved);
        for (long k = 0; k < dim; k++) score += w[k] * x[k];
        double residual = score - targets[t];
        losses[t] = 0.5 * residual * residual;
        for (long k = 0; k < dim; k++) gradient[k] = residual * x[k];

        for (long i = 0; i < count; i++) {
            double *point = points + i * dim, *old = previous + i * dim;
            double inner = 0.0, move = 0.0, norm = 0.0;
            for (long k = 0; k < dim; k++) {
                inner += gradient[k] * point[k];
                move += (point[k] - old[k]) * (point[k] - old[k]);
            }
            log_weights[i] -= rate * (inner + switching_cost * sqrt(move));
            for (long k = 0; k < dim; k++) {
                old[k] = point[k];
                point[k] -= steps[i] * gradient[k];
                norm += point[k] * point[k];
            }
            if (norm > radius * radius) {
                double ratio = radius / sqrt(norm);
                for (long k = 0; k < dim; k++) point[k] *= ratio;
            }
        }
    }
}
