export { createClient, type Client, type NodeClientOptions as ClientOptions } from './node/client.js';
export type { Release, UpdateCheck } from './update.js';
export type { LicenseCheck, LicenseQuestion, LoadedLicenseFile, SeatLease } from './license.js';
export type { HeldSeat, SeatOptions } from './seat.js';
export type { ServiceProblem as Problem } from './verdict.js';
export type { LicenseStatus } from '../../lib/formats/license-status.js';
export { verifyLicenseFile } from '../../lib/formats/license-file.js';
export type {
  LicenseFault,
  LicenseFileChecks,
  LicenseFileResult,
  LicensePayload,
} from '../../lib/formats/license-text.js';
export { KeyRefused } from '../../lib/formats/public-key.js';
export type { Platform } from '../../lib/formats/platform.js';
export type { ErrorReportFields as ErrorReport } from './errors/report.js';
export type { Reported } from './errors/sender.js';
export type { AgentLaunched, AgentOptions } from './node/agent.js';
export type { BugReport, BugReported } from './bugs.js';
export type { Download, Downloadable, OnProgress } from './node/download.js';
export type { Beat, CheckResult, Heartbeat, HeartbeatTimer, RunningHeartbeat, SelfCheck } from './heartbeat.js';
export type { ProvisionedToken, TokenRequest } from './token.js';
