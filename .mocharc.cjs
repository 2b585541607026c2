const { availableParallelism } = require('node:os');

module.exports = {
  parallel: true,
  jobs: availableParallelism(),
  require: ['reflect-metadata', './dist/test/support/mocha-setup.js'],
  reporter: './scripts/test-reporter.cjs',
  // A limit for what hangs. The machine may be busy, so that no test may depend on it.
  timeout: 300_000,
  // Most code of a test runs once: with less optimization by V8 the files take a tenth less processor time.
  ...(process.version.startsWith('v20.') && { 'node-option': ['interrupt-budget=1000000'] }),
};
