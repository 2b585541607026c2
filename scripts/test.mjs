// Runs the compiled tests, as many files at once as together keep the cores of the machine busy, and ends with one line
// `N passed, N failed`.
//
//   npm test                       everything that this machine can run; says which storage engines were tested
//   npm test -- plugins/bugs cli   only the files whose path has one of these words
//
// SVC_TEST_MONGODB_URL  a MongoDB to test against; without it, what mongodb-memory-server can get
// SVC_TEST_REQUIRE      comma-separated: fail when these suites did not run (`mongodb`, `browser`, `sdks`, `promtool`,
//                       `openapi`, `schemathesis`, `packed`, `apache`, `csharp`, `agent`; probes of certificates
//                       need openssl, of names dnsmasq, of machines a ping that may send: `tls`, `dns`, `icmp`)
// SVC_TEST_TIMES        a number: list that many of the costliest files, with the CPU time of each and of its programs
// SVC_TEST_BUDGET       a number: tests of random faults do that many times as much (default 1)
// SVC_TEST_LANES        how many files run at once
// SVC_TEST_WEIGHTS      `write`: remember what each file took, by which the next runs choose (all files, on a quiet
//                       machine)
import { fork } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as after } from 'node:timers/promises';
import { bundleClients } from './bundle-clients.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', 'dist', 'test');
const worker = join(dirname(fileURLToPath(import.meta.url)), 'test-worker.mjs');
/** A path may be given as it is written in the sources. */
const words = process.argv.slice(2).map((word) => word.replace(/^test\//, '').replace(/\.ts$/, '.js'));
/** Of the costly files, when last measured: how many seconds each took, and how many of processor time. */
const WEIGHTS = join(dirname(fileURLToPath(import.meta.url)), 'test-weights.json');
/** A file that is not among them. */
const LIGHT = [1, 0.6];
const CORES = availableParallelism();
/**
 * Files that wait for disks, programs and limits of time run beside those that compute: what runs may want so many
 * cores, by what each took beside others. That is a fifth more than there are: a file computes now and waits then.
 * Much more would cost: the same files take 308 s of processor time in two lanes, 347 in four and 366 in six.
 */
const WANTED = process.env.SVC_TEST_LANES === undefined ? 1.2 * CORES : Infinity;
/** What a file took once says little of this moment: when cores were idle between two looks, one more file begins. */
const LOOK_MS = 1000;
const IDLE_SHARE = 0.1;
/** At most so many, each a process that grows. */
const LANES = Number(process.env.SVC_TEST_LANES ?? Math.min(12, 4 * CORES + 1));
/** On a machine with other work. */
const FILE_TIMEOUT_MS = 15 * 60_000 * Math.max(1, Number(process.env.SVC_TEST_BUDGET ?? 1));

async function testFiles(folder) {
  const found = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== 'fixtures') found.push(...(await testFiles(path)));
    else if (entry.name.endsWith('.test.js')) found.push(path);
  }
  return found;
}

const nameOf = (file) => relative(root, file).split(sep).join('/');
const weights = JSON.parse(await readFile(WEIGHTS, 'utf8'));
const weight = (file) => weights[nameOf(file)] ?? LIGHT;
/** The longest first, so that no core is idle at the end. */
const duration = (file) => weight(file)[0];
/** How many cores a file keeps busy. */
const load = (file) => Math.min(CORES, weight(file)[1] / weight(file)[0]);

/** What one file gave; a worker that dies counts as one failure of its file. */
function runOne(state, file) {
  return new Promise((resolve) => {
    const began = Date.now();
    const finish = (result) => {
      clearTimeout(timer);
      state.child.removeAllListeners('message');
      state.child.removeAllListeners('exit');
      resolve({ file, ms: Date.now() - began, ...result });
    };
    const died = (why) => {
      state.child = start();
      finish({ passed: 0, skipped: 0, cpuMs: 0, ran: [], failures: [{ title: nameOf(file), text: why }] });
    };
    const timer = setTimeout(() => {
      state.child.removeAllListeners('exit');
      state.child.kill('SIGKILL');
      died(`not finished after ${FILE_TIMEOUT_MS / 60_000} minutes`);
    }, FILE_TIMEOUT_MS);
    state.child.once('message', finish);
    state.child.once('exit', (code, signal) => died(`the test process ended with ${code ?? signal}`));
    state.child.send(file);
  });
}

/** What one lane makes and all use. */
const shared = await mkdtemp(join(tmpdir(), 'aos-tests-'));
process.once('exit', () => rmSync(shared, { recursive: true, force: true }));
/** Most of what a lane runs, it runs seldom: where V8 optimizes later, files take a tenth less processor time. */
const execArgv = [...process.execArgv, ...(process.version.startsWith('v20.') ? ['--interrupt-budget=1000000'] : [])];
const start = () =>
  fork(worker, {
    execArgv,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, SVC_TEST_SHARED: shared },
  });

const all = await testFiles(root);
const queue = all
  .filter((file) => words.length === 0 || words.some((word) => nameOf(file).includes(word)))
  .toSorted((a, b) => duration(b) - duration(a) || (a < b ? -1 : 1));
if (queue.length === 0) {
  console.error(`no test file matches ${words.join(' ')}`);
  console.log('0 passed, 0 failed');
  process.exit(1);
}

/** Files that use the update agent, the packager or the SDK wait until these are bundled, beside which others run. */
const startsClients = (file) => /^(clients\/(agent|packager|sdk|demo)|outside)\//.test(nameOf(file));
let bundling = queue.some(startsClients) ? bundleClients().then(() => (bundling = null)) : null;

const began = Date.now();
const results = [];
const lanes = [];
/** Files with the promises of their end. */
const running = new Map();

/** What the machine has worked since it started, all cores together, in ms. */
const worked = () => cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);
let last = { at: Date.now(), worked: worked() };

/** Whether cores were idle since the last look, which was a while ago. */
function coresWereIdle() {
  const now = { at: Date.now(), worked: worked() };
  const passed = now.at - last.at;
  if (passed < LOOK_MS) return false;
  const share = 1 - (now.worked - last.worked) / (passed * cpus().length);
  last = now;
  return share > IDLE_SHARE;
}

/** The longest file that there is room for, taken from the queue. */
function next() {
  const wanted = [...running.keys()].reduce((sum, file) => sum + load(file), 0);
  const anyOne = running.size === 0 || coresWereIdle();
  const at = queue.findIndex(
    (file) => (anyOne || wanted + load(file) <= WANTED) && (bundling === null || !startsClients(file)),
  );
  return at < 0 ? undefined : queue.splice(at, 1)[0];
}

async function runIn(lane, file) {
  lane.free = false;
  const result = await runOne(lane, file);
  lane.free = true;
  running.delete(file);
  results.push(result);
  const mark = result.failures.length > 0 ? 'FAILED' : 'ok    ';
  console.log(
    `${mark} ${nameOf(file)}  ${result.passed} in ${(result.ms / 1000).toFixed(1)} s, CPU ${(result.cpuMs / 1000).toFixed(1)}`,
  );
}

/** A lane that has nothing to do, or one more. */
function freeLane() {
  const free = lanes.find((lane) => lane.free);
  if (free !== undefined) return free;
  lanes.push({ child: start() });
  return lanes.at(-1);
}

while (queue.length > 0 || running.size > 0) {
  const file = running.size < LANES ? next() : undefined;
  if (file !== undefined) running.set(file, runIn(freeLane(), file));
  else
    await Promise.race([
      ...running.values(),
      ...(bundling === null ? [] : [bundling]),
      after(LOOK_MS, null, { ref: false }),
    ]);
}
for (const { child } of lanes) {
  child.removeAllListeners('exit');
  // It ends by itself, with the browser that its files shared.
  child.disconnect();
}

const failures = results.flatMap((result) => result.failures);
failures.forEach(({ title, text }, i) => console.error(`\n${i + 1}) ${title}\n${text}`));
const inSeconds = (ms) => `${(ms / 1000).toFixed(1).padStart(7)} s`;
const costliest = results.toSorted((a, b) => b.cpuMs - a.cpuMs).slice(0, Number(process.env.SVC_TEST_TIMES ?? 0));
for (const { file, ms, cpuMs } of costliest) console.log(`${inSeconds(ms)}, CPU ${inSeconds(cpuMs)}  ${nameOf(file)}`);
if (process.env.SVC_TEST_WEIGHTS === 'write') {
  const rounded = (ms) => Math.max(1, Math.round(ms / 1000));
  const taken = results.map(({ file, ms, cpuMs }) => [nameOf(file), rounded(ms), Math.round(cpuMs / 1000)]);
  const rows = taken
    .filter(([, s]) => s > LIGHT[0])
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, ...times]) => `  ${JSON.stringify(name)}: [${times.join(', ')}]`);
  await writeFile(WEIGHTS, `{\n${rows.join(',\n')}\n}\n`);
}

const ran = results.flatMap((result) => result.ran);
/** An engine counts as tested when the storage contract ran on it, the browser when its walk did. */
const SUITES = {
  browser: 'web: a walk in a real browser',
  sdks: 'sentry sdks java: reports',
  promtool: 'metrics of the service is what promtool takes',
  openapi: 'openapi.json before foreign programs makes a python client',
  schemathesis: 'openapi.json before schemathesis every operation',
  apache: 'the release store behind apache answers',
  packed: 'the packed service makes plugins',
  csharp: 'the small client for c# verifies',
  agent: 'update-agent: the executable updates',
  tls: 'probes of certificates (with openssl) five days left',
  dns: 'probes of names (with dnsmasq) a real name server says',
  icmp: 'probes of machines loopback answers an echo',
};
const tested = (name) => ran.some((title) => title.startsWith(SUITES[name] ?? `documentstore contract: ${name} `));
const engines = ['memory', 'sqlite', 'mongodb'].filter(tested).join(', ') || 'none';
// A filtered run may leave the MongoDB suites out although the server is there.
const reason = process.env.SVC_TEST_MONGODB_URL
  ? 'not among these files'
  : 'no SVC_TEST_MONGODB_URL, no mongod to be had';
const without = tested('mongodb') ? '' : ` (the MongoDB contract suite did not run: ${reason})`;
const skipped = results.reduce((sum, result) => sum + result.skipped, 0);
const seconds = Math.round((Date.now() - began) / 1000);
const cpuSeconds = Math.round(results.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / 1000);
console.log(
  `\nStorage engines tested: ${engines}${without}; browser: ${tested('browser') ? 'yes' : 'no'}; Node ${process.version}; ${seconds} s, ${cpuSeconds} s of CPU; ${skipped} skipped`,
);

let failed = failures.length;
for (const name of (process.env.SVC_TEST_REQUIRE ?? '').split(',').filter(Boolean)) {
  if (tested(name)) continue;
  console.error(`required, but did not run: ${name}`);
  failed += 1;
}
process.exitCode = failed === 0 ? 0 : 1;
console.log(`${results.reduce((sum, result) => sum + result.passed, 0)} passed, ${failed} failed`);
