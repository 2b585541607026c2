// mocha's reporter of this project: one line for each file, the failures, then which storage engines were tested and
// `N passed, N failed`, which .ci/run reads. It works with and without --parallel.
const path = require('node:path');
const { reporters, Runner } = require('mocha');

const { EVENT_TEST_PASS, EVENT_TEST_FAIL, EVENT_TEST_PENDING, EVENT_SUITE_END, EVENT_RUN_END } = Runner.constants;
const ENGINES = ['memory', 'sqlite', 'mongodb'];
const ENGINE = /(?:contract: |\bon |\()(memory|sqlite|mongodb)\b/;

const pathOf = (file) => path.relative('dist/test', file).split(path.sep).join('/');

module.exports = class TestReporter extends reporters.Base {
  constructor(runner, options) {
    super(runner, options);
    const engines = new Set();
    let inFile = { passed: 0, failed: 0, ms: 0, file: '' };
    const add = (test, what) => {
      inFile[what] += 1;
      inFile.ms += test.duration ?? 0;
      inFile.file ||= test.file ? pathOf(test.file) : '';
    };
    runner.on(EVENT_TEST_PENDING, (test) => add(test, 'skipped'));
    runner.on(EVENT_TEST_PASS, (test) => {
      add(test, 'passed');
      const engine = ENGINE.exec(test.fullTitle())?.[1];
      if (engine !== undefined) engines.add(engine);
    });
    runner.on(EVENT_TEST_FAIL, (test, error) => {
      add(test, 'failed');
      // A file that could not be loaded, or whose process ended, has its path in the error.
      if (error?.file) test.title += ` (${pathOf(error.file)})`;
    });
    runner.on(EVENT_SUITE_END, (suite) => {
      if (!suite.root || inFile.file === '') return;
      const mark = inFile.failed > 0 ? 'FAILED' : 'ok    ';
      console.log(`${mark} ${inFile.file}  ${inFile.passed} in ${(inFile.ms / 1000).toFixed(1)} s`);
      inFile = { passed: 0, failed: 0, ms: 0, file: '' };
    });
    runner.once(EVENT_RUN_END, () => {
      if (this.failures.length > 0) reporters.Base.list(this.failures);
      const { passes, failures, pending } = this.stats;
      const tested = ENGINES.filter((engine) => engines.has(engine)).join(', ') || 'none';
      console.log(`\nStorage engines tested: ${tested}; Node ${process.version}; ${pending} skipped`);
      console.log(`${passes} passed, ${failures} failed`);
    });
  }
};
