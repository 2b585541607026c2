/** `@aos/sdk`: what an application on many machines needs of the service (contract 90, SDK). */
export { createClient, type Client, type ClientOptions } from './node/client.js';
export type { Release, UpdateCheck } from './update.js';
export type { LicenseCheck, LicenseQuestion, LoadedLicenseFile } from './license.js';
export type { Problem } from './verdict.js';
export type { LicenseStatus } from '../shared/license-status.js';
export { verifyLicenseFile } from '../shared/license-file.js';
export type { LicenseFault, LicenseFileChecks, LicenseFileResult, LicensePayload } from '../shared/license-text.js';
export { KeyRefused } from '../shared/public-key.js';
export type { Platform } from '../shared/platform.js';
export type { ErrorReport } from './errors/report.js';
export type { Reported } from './errors/sender.js';
export type { AgentLaunched, AgentOptions } from './node/agent.js';
export type { BugReport, BugReported } from './bugs.js';
export type { Download, Downloadable, OnProgress } from './node/download.js';
export type { Beat, CheckResult, Heartbeat, HeartbeatTimer, RunningHeartbeat, SelfCheck } from './heartbeat.js';
export type { ProvisionedToken, TokenRequest } from './token.js';
