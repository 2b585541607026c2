/**
 * Entry point `aos/domain`: tokens, extension points and events between plugins.
 * docs/plugin-domain.md is generated from it and checked by a test.
 */
export * from './access.js';
export * from './agent-requests.js';
export * from './alarms/receivers.js';
export * from './mail/mail-queue.js';
export * from './audit.js';
export * from './bugs.js';
export * from './config/kinds.js';
export * from './dashboard.js';
export * from './errors.js';
export * from './event-page.js';
export * from './forge-changes.js';
export * from './frame-rewriting.js';
export * from './health.js';
export * from './item-facts.js';
export * from './licensing.js';
export * from './live-topics.js';
export * from './live-tokens.js';
export * from './projects.js';
export * from './release-health.js';
export * from './releases.js';
export * from './search.js';
export * from './system.js';
export * from './tokens.js';
export * from './watchdog.js';
export * from './webhooks.js';
