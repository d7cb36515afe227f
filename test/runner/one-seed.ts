// Vitest runs this before each test file: properties are tried with the same inputs each time.
import fc from 'fast-check';

/** A run without `CONVOKE_TEST_SEED` is repeatable; another number tries other inputs. */
fc.configureGlobal({ seed: Number(process.env['CONVOKE_TEST_SEED'] ?? 1) });
