/**
 * Test utilities for plugins (`aos/testing`): the service in memory with the plugin, and fakes of
 * the ports. Works with any test runner. The contract suites for adapters are in
 * `aos/testing/contracts`, for mocha.
 */
export { TestAnswer as Answer } from './answer.js';
export { boot, TestService, type Ask, type BootOptions } from './boot.js';
export { ManualClock } from './clock.js';
export { contextFor, type ContextOptions, type TestContext } from './context.js';
export { FakeIds, FakeJobs, RecordingLog, type EnqueuedJob, type LogLine } from './fakes.js';
export { stub } from './stub.js';
export type { TokenVisitor, Visitor } from './visitors.js';
export { MemoryStore } from '../../adapters/memory/store.js';
