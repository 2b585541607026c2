/** `@aos/sdk`: what an application on many machines needs of the service (contract 90, SDK). */
export { createClient, type Client } from './client.js';
export type { ClientOptions } from './options.js';
export type { Release, UpdateCheck } from './update.js';
export type { LicenseCheck, LicenseQuestion, LoadedLicenseFile } from './license.js';
export type { LicenseStatus, Problem } from './verdict.js';
export { verifyLicenseFile } from '../shared/license-file.js';
export type { LicenseFault, LicenseFileChecks, LicenseFileResult, LicensePayload } from '../shared/license-file.js';
export { KeyRefused } from '../shared/signature.js';
export type { Platform } from '../shared/platform.js';
export type { ErrorReport } from './errors/report.js';
export type { Reported } from './errors/sender.js';
