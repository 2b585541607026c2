/** `@aos/sdk/browser`: the SDK for web pages (contract 90, SDK). */
export { createClient } from './client.js';
export type { CommonClient as Client } from '../client.js';
export { verifyLicenseFile } from './license-file.js';
export { KeyRefused } from '../../../lib/formats/public-key.js';
export type {
  LicenseFault,
  LicenseFileChecks,
  LicenseFileResult,
  LicensePayload,
} from '../../../lib/formats/license-text.js';
export type { LicenseStatus } from '../../../lib/formats/license-status.js';
export type { Platform } from '../../../lib/formats/platform.js';
export type { BugReport, BugReported } from '../bugs.js';
export type { ErrorReportFields as ErrorReport } from '../errors/report.js';
export type { Reported } from '../errors/sender.js';
export type { Beat, CheckResult, Heartbeat, HeartbeatTimer, RunningHeartbeat, SelfCheck } from '../heartbeat.js';
export type { LicenseCheck, LicenseQuestion, LoadedLicenseFile, SeatLease } from '../license.js';
export type { HeldSeat, SeatOptions } from '../seat.js';
export type { ClientOptions } from '../options.js';
export type { ProvisionedToken, TokenRequest } from '../token.js';
export type { Release, UpdateCheck } from '../update.js';
export type { ServiceProblem as Problem } from '../verdict.js';
