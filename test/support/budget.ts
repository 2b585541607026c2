/**
 * How often a test does again what it does at random: often enough for a developer's run. `SVC_TEST_BUDGET` multiplies it
 * where there is more time: `SVC_TEST_BUDGET=10 npm test -- faults`. `.ci/run` names each file that asks here.
 */
const BUDGET = Number(process.env['SVC_TEST_BUDGET'] ?? 1);

export const times = (count: number): number => Math.max(1, Math.round(count * BUDGET));
