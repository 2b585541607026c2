/**
 * What a fleet costs a day, from the operations that each call makes (docs/scaling.md). Every assumption can be
 * changed:
 *
 *   npm run plan -- --machines 1000000
 *   npm run plan -- --machines 20000 --checks-per-day 48 --heartbeat-seconds 300 --errors-per-machine-day 5 --json
 */
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

/**
 * Operations on MongoDB for each call: docs/scaling.md, "Measured". Update checks read memory alone. A test counts
 * those of reports and of an idle process, and refuses more.
 */
export const OPERATIONS = {
  check: 0,
  heartbeat: 2,
  known_error: 3.2,
  new_group: 10.4,
  validation: 4,
  claim: 3,
  idle_per_process_second: 3.4,
};

/** Bytes that stay, without indexes and compression: what a year of them takes is an upper bound. */
export const BYTES = { sample: 24, occurrence: 4_000, item: 6_000, activation: 600 };

/** Processor milliseconds of a process for each call, on a core of 2020 (docs/benchmarks.md). */
export const CPU_MS = {
  check: 0.02,
  download: 3,
  heartbeat: 0.3,
  known_error: 0.6,
  new_group: 4,
  validation: 0.4,
  claim: 0.8,
};

export const ASSUMPTIONS = {
  machines: 1_000,
  'checks-per-day': 24,
  'releases-per-month': 2,
  'package-mb': 40,
  'heartbeat-seconds': 60,
  'metrics-per-heartbeat': 4,
  'monitored-share': 1,
  'errors-per-machine-day': 1,
  'new-groups-per-day': 50,
  'payloads-per-group': 50,
  'validations-per-day': 2,
  'claims-per-day': 200,
  'peak-factor': 3,
  'core-share': 0.5,
  processes: 0,
};

const DAY_S = 86_400;

/**
 * @param given numbers by the names of ASSUMPTIONS.
 * @returns calls, operations, storage, traffic and processes; pure
 */
export function plan(given = {}) {
  const a = { ...ASSUMPTIONS, ...given };
  for (const [name, value] of Object.entries(a)) {
    if (!Object.hasOwn(ASSUMPTIONS, name)) throw new RangeError(`--${name} is no assumption`);
    if (!Number.isFinite(value) || value < 0) throw new RangeError(`--${name} must be a number of 0 or more`);
  }
  if (a['heartbeat-seconds'] === 0 || a['core-share'] === 0)
    throw new RangeError('--heartbeat-seconds and --core-share are above 0');
  const monitored = a.machines * a['monitored-share'];
  const calls = {
    check: a.machines * a['checks-per-day'],
    download: (a.machines * a['releases-per-month']) / 30,
    heartbeat: (monitored * DAY_S) / a['heartbeat-seconds'],
    known_error: a.machines * a['errors-per-machine-day'],
    new_group: a['new-groups-per-day'],
    validation: a.machines * a['validations-per-day'],
    claim: a['claims-per-day'],
  };
  const cpuSeconds = Object.entries(calls).reduce((sum, [name, n]) => sum + (n * CPU_MS[name]) / 1_000, 0);
  const cores = (cpuSeconds / DAY_S) * a['peak-factor'];
  // One event loop is one core; one process more than the peak needs, so that one may be away.
  const processes = a.processes || Math.max(1, Math.ceil(cores / a['core-share'])) + (cores > 0.25 ? 1 : 0);
  const operations = Object.entries(calls).reduce((sum, [name, n]) => sum + n * (OPERATIONS[name] ?? 0), 0);
  const idle = processes * OPERATIONS.idle_per_process_second * DAY_S;
  const samplesDay = calls.heartbeat * a['metrics-per-heartbeat'];
  return {
    assumptions: a,
    calls_per_day: calls,
    calls_per_second_peak: (Object.values(calls).reduce((sum, n) => sum + n, 0) / DAY_S) * a['peak-factor'],
    cores_peak: cores,
    processes,
    store_operations_per_day: operations + idle,
    store_operations_per_second_peak: (operations / DAY_S) * a['peak-factor'] + idle / DAY_S,
    gigabytes: {
      metrics_14_days: (samplesDay * 14 * BYTES.sample) / 1e9,
      errors_per_year:
        (a['new-groups-per-day'] * 365 * (BYTES.item + a['payloads-per-group'] * BYTES.occurrence)) / 1e9,
      activations: (a.machines * BYTES.activation) / 1e9,
    },
    download_terabytes_per_month: (a.machines * a['releases-per-month'] * a['package-mb']) / 1e6,
  };
}

const number = (value) =>
  value >= 1e6
    ? `${(value / 1e6).toFixed(1)} million`
    : value >= 100
      ? Math.round(value).toLocaleString('en')
      : value.toFixed(value >= 10 ? 1 : 2);

function shown(result) {
  const lines = [
    `${number(result.assumptions.machines)} machines`,
    '',
    'Calls a day',
    ...Object.entries(result.calls_per_day).map(([name, n]) => `  ${name.replace('_', ' ').padEnd(14)} ${number(n)}`),
    '',
    `Calls a second at the peak       ${number(result.calls_per_second_peak)}`,
    `Cores of AOS at the peak         ${number(result.cores_peak)}`,
    `Processes                        ${result.processes}`,
    `Operations on the store a day    ${number(result.store_operations_per_day)}`,
    `Operations a second at the peak  ${number(result.store_operations_per_second_peak)}`,
    '',
    `Metrics of 14 days               ${number(result.gigabytes.metrics_14_days)} GB`,
    `Errors of a year                 ${number(result.gigabytes.errors_per_year)} GB`,
    `Machines in licenses             ${number(result.gigabytes.activations)} GB`,
    `Downloads a month                ${number(result.download_terabytes_per_month)} TB`,
  ];
  return lines.join('\n');
}

function main() {
  const options = Object.fromEntries(Object.keys(ASSUMPTIONS).map((name) => [name, { type: 'string' }]));
  try {
    const { values } = parseArgs({ options: { ...options, json: { type: 'boolean' } } });
    const { json = false, ...given } = values;
    const numbers = Object.fromEntries(
      Object.entries(given).map(([name, text]) => [name, Number(text.replaceAll('_', ''))]),
    );
    const result = plan(numbers);
    console.log(json ? JSON.stringify(result, null, 2) : shown(result));
  } catch (error) {
    console.error(error.message);
    process.exitCode = 64;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
