// Error and gamma functions, double precision (OpenCL C 6.15.2): the methods of special.cl. Chebyshev fits in 60
// digits.

// erfc(x) e^(x^2) x, t = 1/x - 0.1025, x >= 5.88.
double __wgcl_erfc_a(double t) {
    double p = -0x1.7c9317fe0628cp+5;
    p = mad(p, t, 0x1.049dfa5adba97p+3);
    p = mad(p, t, 0x1.0d70d7471e13dp+3);
    p = mad(p, t, -0x1.1fadd0fe75042p+2);
    p = mad(p, t, -0x1.69b6d9fddc44fp-1);
    p = mad(p, t, 0x1.831ea2093ec33p+0);
    p = mad(p, t, -0x1.1947c757cd599p-2);
    p = mad(p, t, -0x1.deaa5e8b6154dp-2);
    p = mad(p, t, 0x1.2038e6e19eaaap-2);
    p = mad(p, t, 0x1.3901aec0e0cecp-3);
    p = mad(p, t, -0x1.073aea2f7e071p-2);
    p = mad(p, t, -0x1.cb5e3b5c315adp-5);
    return mad(p, t, 0x1.1f5ef54b5ba17p-1);
}

// t = 1/x - 0.26, 2.86 <= x <= 5.88.
double __wgcl_erfc_b(double t) {
    double p = 0x1.7327106b4e7f9p+2;
    p = mad(p, t, -0x1.6589ba2acdcbcp+0);
    p = mad(p, t, -0x1.30774201cf3d4p+0);
    p = mad(p, t, 0x1.5eb8c11b87032p+0);
    p = mad(p, t, -0x1.28eb5844220afp-1);
    p = mad(p, t, -0x1.31e64342b22f8p-3);
    p = mad(p, t, 0x1.9c0b687a64bbep-2);
    p = mad(p, t, -0x1.fc9a2f40a3e95p-3);
    p = mad(p, t, -0x1.50c96a259fe2cp-5);
    p = mad(p, t, 0x1.beb84e6d3d4dcp-3);
    p = mad(p, t, -0x1.4a2de0bd9aa00p-3);
    p = mad(p, t, -0x1.f6baff1d89f1cp-4);
    return mad(p, t, 0x1.17f4708ef34adp-1);
}

// t = 1/x - 0.5, 1.54 <= x <= 2.86.
double __wgcl_erfc_c(double t) {
    double p = 0x1.f3d51f1abb94ap-3;
    p = mad(p, t, -0x1.d3210adfecb71p-3);
    p = mad(p, t, 0x1.e9507baeaabb8p-4);
    p = mad(p, t, -0x1.74ab36c7c6a0bp-8);
    p = mad(p, t, -0x1.551c76db4af90p-4);
    p = mad(p, t, 0x1.f5c43a0617212p-4);
    p = mad(p, t, -0x1.abc9807262169p-4);
    p = mad(p, t, 0x1.4c6fba7a72fc4p-5);
    p = mad(p, t, 0x1.5c2501e9bc7ecp-5);
    p = mad(p, t, -0x1.bd745821c7640p-4);
    p = mad(p, t, 0x1.e74561724ac60p-4);
    p = mad(p, t, -0x1.2c1991675bf6ep-5);
    p = mad(p, t, -0x1.5672b9ea13de7p-3);
    return mad(p, t, 0x1.058671b52c775p-1);
}

// t = 1/x - 0.925, 0.83 <= x <= 1.54.
double __wgcl_erfc_d(double t) {
    double p = 0x1.015f5919cac27p-11;
    p = mad(p, t, -0x1.645522784f0c5p-10);
    p = mad(p, t, 0x1.258d412163326p-9);
    p = mad(p, t, -0x1.7ffaf4a625b22p-9);
    p = mad(p, t, 0x1.953fdb25b9134p-9);
    p = mad(p, t, -0x1.1c339889f15dep-9);
    p = mad(p, t, -0x1.0a21fdf5a1c36p-11);
    p = mad(p, t, 0x1.689c97eff0dcap-8);
    p = mad(p, t, -0x1.a41c9cf290080p-7);
    p = mad(p, t, 0x1.578fcc3103642p-6);
    p = mad(p, t, -0x1.9d66c59258bdbp-6);
    p = mad(p, t, 0x1.e047ec4e7a71bp-7);
    p = mad(p, t, 0x1.0e5aa70714849p-5);
    p = mad(p, t, -0x1.46b78e5260dd2p-3);
    return mad(p, t, 0x1.c1e6dd4dac7b3p-2);
}

// erf(sqrt(s)) / sqrt(s) on [0, 0.8].
double __wgcl_erf_poly(double s) {
    double p = 0x1.1ef595fca85cep-34;
    p = mad(p, s, -0x1.40adb48761942p-30);
    p = mad(p, s, 0x1.f9fdae14c99aep-27);
    p = mad(p, s, -0x1.5f4e7f76f793ap-23);
    p = mad(p, s, 0x1.b9e413bee2c21p-20);
    p = mad(p, s, -0x1.f4d239d5d03dfp-17);
    p = mad(p, s, 0x1.f9a325ce3d3efp-14);
    p = mad(p, s, -0x1.c02db3f96b9a9p-11);
    p = mad(p, s, 0x1.565bcd0e50b05p-8);
    p = mad(p, s, -0x1.b82ce31288427p-6);
    p = mad(p, s, 0x1.ce2f21a042bd1p-4);
    p = mad(p, s, -0x1.812746b0379e7p-2);
    return mad(p, s, 0x1.20dd750429b6dp+0);
}

double __wgcl_erfc_tail(double x) {
    double u = 1.0 / x;
    double p = u < 0.17 ? __wgcl_erfc_a(u - 0.1025) : u < 0.35 ? __wgcl_erfc_b(u - 0.26) : u < 0.65 ? __wgcl_erfc_c(u - 0.5) : __wgcl_erfc_d(u - 0.925);
    double x_hi = __wgcl_upper(x);
    double lo = (x - x_hi) * (x + x_hi);
    return __wgcl_exp_parts(-x_hi * x_hi, -lo) * (p * u);
}

// A polynomial up to 0.875, 1 - erfc above. Largest error seen: 1.6 ULP.
double erf(double x) {
    double ax = fabs(x);
    if (ax < 0.875) {
        return x * __wgcl_erf_poly(x * x);
    }
    double y = 1.0 - __wgcl_erfc_tail(fmin(ax, 8.0));
    return isnan(x) ? x : copysign(y, x);
}

// 1 - erf up to 0.875, e^(-x^2) / x times a polynomial in 1/x above. Largest error seen: 5.3 ULP.
double erfc(double x) {
    double ax = fabs(x);
    if (ax < 0.875) {
        double y = x * __wgcl_erf_poly(x * x);
        return x < 0.5 ? 1.0 - y : 0.5 - (y - 0.5);
    }
    double y = __wgcl_erfc_tail(fmin(ax, 28.0));
    y = x < 0.0 ? 2.0 - y : y;
    return isnan(x) ? x : y;
}

// Gamma(1.5 + t), |t| <= 1/2.
double __wgcl_gamma_series(double t) {
    double p = 0x1.829c7dd24cf5fp-12;
    p = mad(p, t, -0x1.21f4a37a2a181p-11);
    p = mad(p, t, 0x1.6a6cdf3010167p-12);
    p = mad(p, t, -0x1.0fce0d52c2a4ep-11);
    p = mad(p, t, 0x1.13316d5010101p-10);
    p = mad(p, t, -0x1.9cbe9d86fddb3p-10);
    p = mad(p, t, 0x1.2a45405c01edep-9);
    p = mad(p, t, -0x1.bf439148e7daep-9);
    p = mad(p, t, 0x1.505d39091243ep-8);
    p = mad(p, t, -0x1.f81222518b87ap-8);
    p = mad(p, t, 0x1.79914d61ba17ap-7);
    p = mad(p, t, -0x1.1a2bbd7a32536p-6);
    p = mad(p, t, 0x1.a752ca0533f8bp-6);
    p = mad(p, t, -0x1.374fd84d3861bp-5);
    p = mad(p, t, 0x1.e022b738767aap-5);
    p = mad(p, t, -0x1.3d88cfdce3a0bp-4);
    p = mad(p, t, 0x1.283bd374f33acp-3);
    p = mad(p, t, -0x1.b77ac1ca46eaep-4);
    p = mad(p, t, 0x1.a8c4dba620d1ep-2);
    p = mad(p, t, 0x1.08ea88ee56456p-5);
    return mad(p, t, 0x1.c5bf891b4ef6bp-1);
}

// log Gamma(x) / ((x - 1) (x - 2)), t = x - 1.5 in [-1/2, 1/2].
double __wgcl_lgamma_a(double t) {
    double p = 0x1.8ca55ab6b8718p-17;
    p = mad(p, t, -0x1.36d84fee907ffp-16);
    p = mad(p, t, 0x1.c7d009a4fae3ap-17);
    p = mad(p, t, -0x1.6880fac68f031p-16);
    p = mad(p, t, 0x1.672b94917149fp-15);
    p = mad(p, t, -0x1.1cf3272629995p-14);
    p = mad(p, t, 0x1.ba26ce28a34b0p-14);
    p = mad(p, t, -0x1.61854b057e6e9p-13);
    p = mad(p, t, 0x1.1c7b46046a59cp-12);
    p = mad(p, t, -0x1.cb502b140a127p-12);
    p = mad(p, t, 0x1.750aa27fe4301p-11);
    p = mad(p, t, -0x1.313e5323120b7p-10);
    p = mad(p, t, 0x1.f814b951d538bp-10);
    p = mad(p, t, -0x1.a5035375acabep-9);
    p = mad(p, t, 0x1.64f0664fb6518p-8);
    p = mad(p, t, -0x1.34dbda128eee5p-7);
    p = mad(p, t, 0x1.133423527ae27p-6);
    p = mad(p, t, -0x1.007aa83cef9abp-5);
    p = mad(p, t, 0x1.01af62a2929e1p-4);
    p = mad(p, t, -0x1.2aed059bd6085p-3);
    return mad(p, t, 0x1.eeb95b094c191p-2);
}

// log Gamma(x) / ((x - 1) (x - 2)), t = x - 2.5.
double __wgcl_lgamma_b(double t) {
    double p = -0x1.5318fc433f2f5p-28;
    p = mad(p, t, 0x1.bd89faea6be05p-27);
    p = mad(p, t, -0x1.eba7f1c3d9760p-26);
    p = mad(p, t, 0x1.454b1adbc86b7p-24);
    p = mad(p, t, -0x1.b5a84b36743e2p-23);
    p = mad(p, t, 0x1.23df937961832p-21);
    p = mad(p, t, -0x1.871dd64f13021p-20);
    p = mad(p, t, 0x1.07c6c7a6cae03p-18);
    p = mad(p, t, -0x1.667082a03af13p-17);
    p = mad(p, t, 0x1.eb8f77c97c52cp-16);
    p = mad(p, t, -0x1.5501aafb06c5fp-14);
    p = mad(p, t, 0x1.e05c3c368e7b5p-13);
    p = mad(p, t, -0x1.59512000e75a8p-11);
    p = mad(p, t, 0x1.feef08b136431p-10);
    p = mad(p, t, -0x1.8a722dfc5d7efp-8);
    p = mad(p, t, 0x1.462044b0af667p-6);
    p = mad(p, t, -0x1.31d26e9323010p-4);
    return mad(p, t, 0x1.84afe00cddfdfp-2);
}

// Stirling's series times x, in q = 1 / x^2.
double __wgcl_stirling(double q) {
    double p = -0x1.e4286cb0f5398p-6;
    p = mad(p, q, 0x1.a41a41a41a41ap-8);
    p = mad(p, q, -0x1.f6ab0d9993c7dp-10);
    p = mad(p, q, 0x1.b951e2b18ff23p-11);
    p = mad(p, q, -0x1.3813813813814p-11);
    p = mad(p, q, 0x1.a01a01a01a01ap-11);
    p = mad(p, q, -0x1.6c16c16c16c17p-9);
    return mad(p, q, 0x1.5555555555555p-4);
}

double __wgcl_gamma_positive(double x) {
    if (x < 16.0) {
        double product = 1.0;
        double t = x;
        while (t > 2.0) {
            t -= 1.0;
            product *= t;
        }
        return t < 1.0 ? __wgcl_gamma_series(t - 0.5) / t : product * __wgcl_gamma_series(t - 1.5);
    }
    double u = 1.0 / x;
    double series = u * __wgcl_stirling(u * u);
    double root = __wgcl_pow_positive(x, 0.5 * x - 0.25);
    return 0x1.40d931ff62706p+1 * root * __wgcl_exp_parts(-x, series) * root;
}

// The recurrence to [1, 2] or Stirling's series; negative arguments by reflection. Largest error seen: 6.8 ULP.
double tgamma(double x) {
    double infinity = as_double(0x7ff0000000000000UL);
    if (isnan(x) || x == -infinity) {
        return as_double(0x7ff8000000000000UL);
    }
    if (x == 0.0) {
        return copysign(infinity, x);
    }
    if (x > 0.0) {
        return x > 172.0 ? infinity : __wgcl_gamma_positive(x);
    }
    if (trunc(x) == x) {
        return as_double(0x7ff8000000000000UL);
    }
    if (x > -0x1p-53) {
        return 1.0 / x;
    }
    double ax = -x;
    double s = ax * sinpi(ax);
    if (ax > 185.0) {
        return copysign(0.0, -s);
    }
    if (ax > 168.0) {
        double y = 0x1.921fb54442d18p+1 / s / __wgcl_gamma_positive(ax - 18.0);
        for (double t = ax - 18.0; t < ax - 0.5; t += 1.0) {
            y /= t;
        }
        return -y;
    }
    return -0x1.921fb54442d18p+1 / (s * __wgcl_gamma_positive(ax));
}

double __wgcl_lgamma_positive(double x) {
    if (x >= 16.0) {
        double u = 1.0 / x;
        double series = u * __wgcl_stirling(u * u);
        double l = log(x) - 1.0;
        return x > 1e300 ? x * l : (x * l - 0.5 * (l + 1.0)) + (0x1.d67f1c864beb5p-1 + series);
    }
    double shift = 0.0;
    double t = x;
    if (x < 1.0) {
        shift = -log(x);
        t = x + 1.0;
    } else if (x > 3.0) {
        double product = 1.0;
        while (t > 3.0) {
            t -= 1.0;
            product *= t;
        }
        shift = log(product);
    }
    double p = t < 2.0 ? __wgcl_lgamma_a(t - 1.5) : __wgcl_lgamma_b(t - 2.5);
    // x + 1 rounds: t - 1 and t - 2 are x and x - 1 there.
    double one = x < 1.0 ? x : t - 1.0;
    double two = x < 1.0 ? x - 1.0 : t - 2.0;
    return one * two * p + shift;
}

// The recurrence to [1, 3] or Stirling's series; negative arguments by reflection. Largest error seen: 4.0 ULP. For
// negative arguments, that is relative to the largest of 1, the result and lgamma of the magnitude: near zeros at
// negative arguments, few digits of the result are right.
double lgamma_r(double x, int *signp) {
    double infinity = as_double(0x7ff0000000000000UL);
    *signp = 1;
    if (isnan(x)) {
        return x;
    }
    if (isinf(x)) {
        return infinity;
    }
    if (x > 0.0) {
        return __wgcl_lgamma_positive(x);
    }
    double ax = -x;
    if (trunc(x) == x) {
        *signp = 0;
        return infinity;
    }
    double s = sinpi(ax);
    *signp = s > 0.0 ? -1 : 1;
    if (ax < 0x1p-60) {
        return -log(ax);
    }
    return log(0x1.921fb54442d18p+1 / fabs(ax * s)) - __wgcl_lgamma_positive(ax);
}

double lgamma(double x) {
    int sign;
    return lgamma_r(x, &sign);
}
