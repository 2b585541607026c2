// Runs the compiled tests and ends with one line `N passed, N failed`.
//
//   npm test                       everything that this machine can run; says which storage engines were tested
//   npm test -- storage start      only the files whose path has one of these words
//
// SVC_TEST_MONGODB_URL  a MongoDB to test against; without it, what mongodb-memory-server can get
// SVC_TEST_REQUIRE      comma-separated: `mongodb`, `browser` – fail when these suites did not run
import Mocha from 'mocha';
import { readdir } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import 'reflect-metadata';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', 'dist', 'test');
const words = process.argv.slice(2);

async function testFiles(folder) {
  const found = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== 'fixtures') found.push(...(await testFiles(path)));
    else if (entry.name.endsWith('.test.js')) found.push(path);
  }
  return found.toSorted((a, b) => (a < b ? -1 : 1));
}

const all = await testFiles(root);
const files =
  words.length === 0 ? all : all.filter((f) => words.some((w) => relative(root, f).split(sep).join('/').includes(w)));
if (files.length === 0) {
  console.error(`no test file matches ${words.join(' ')}`);
  console.log('0 passed, 0 failed');
  process.exit(1);
}

const mocha = new Mocha({ timeout: 30_000, slow: 2_000, reporter: process.env.SVC_TEST_REPORTER ?? 'dot' });
for (const file of files) mocha.addFile(file);
await mocha.loadFilesAsync();

// An engine or the browser counts as tested when a test under a suite that names it ran, and none of them was skipped.
const seen = new Map(['memory', 'sqlite', 'mongodb', 'browser'].map((name) => [name, { ran: 0, skipped: 0 }]));
const kindsOf = (test) => {
  const title = test.fullTitle().toLowerCase();
  return [...seen.keys()].filter((name) => title.includes(name));
};

const started = Date.now();
const runner = mocha.run((failures) => {
  const { passes, pending } = runner.stats;
  let failed = failures;
  const tested = (name) => seen.get(name).ran > 0;
  const engines = ['memory', 'sqlite', 'mongodb'].filter(tested);
  const missing =
    seen.get('mongodb').ran === 0
      ? ' (the MongoDB suites did not run: no SVC_TEST_MONGODB_URL and no mongod to be had)'
      : '';
  console.log(
    `Storage engines tested: ${engines.join(', ') || 'none'}${missing}; browser: ${tested('browser') ? 'yes' : 'no'}; Node ${process.version}; ${Math.round((Date.now() - started) / 1000)} s; ${pending} skipped`,
  );
  for (const name of (process.env.SVC_TEST_REQUIRE ?? '').split(',').filter(Boolean)) {
    const s = seen.get(name);
    if (s === undefined || s.ran === 0) {
      console.error(`required, but did not run: ${name}`);
      failed += 1;
    }
  }
  process.exitCode = failed === 0 ? 0 : 1;
  console.log(`${passes} passed, ${failed} failed`);
  // Whatever a test left open must not hold the run; a leak of ours shows as a failing test, not as a hanging one.
  process.exit();
});
runner.on('pass', (test) => kindsOf(test).forEach((name) => (seen.get(name).ran += 1)));
runner.on('pending', (test) => kindsOf(test).forEach((name) => (seen.get(name).skipped += 1)));
