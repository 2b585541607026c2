/**
 * Scales the repeats of randomized tests. The default suits a developer's run; `SVC_TEST_BUDGET`
 * multiplies it: `SVC_TEST_BUDGET=10 npm test -- faults`. `.ci/run` names each file that uses it.
 */
const BUDGET_FACTOR = Number(process.env['SVC_TEST_BUDGET'] ?? 1);

export const scaleRepeats = (count: number): number => Math.max(1, Math.round(count * BUDGET_FACTOR));
