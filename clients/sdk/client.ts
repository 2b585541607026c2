/** The client of one project (contract 90, SDK). Nothing is asked and nothing is started before a method is called. */
import type { Platform } from '../shared/platform.js';
import { Cache } from './cache.js';
import { contextOf, type Context } from './context.js';
import {
  loadLicenseFile,
  validateLicense,
  type LicenseCheck,
  type LicenseQuestion,
  type LoadedLicenseFile,
} from './license.js';
import { machineIdFor } from './machine.js';
import { settingsOf, type ClientOptions } from './options.js';
import { checkForUpdate, type UpdateCheck } from './update.js';

export class Client {
  readonly #context: Context;

  /** @throws TypeError for an option that is wrong, KeyRefused for a public key that cannot be read */
  constructor(options: ClientOptions) {
    const settings = settingsOf(options);
    const { project, cacheDir } = settings;
    let derived: Promise<string> | null = null;
    const machineId = async (): Promise<string> =>
      settings.machineId ?? (await (derived ??= machineIdFor(project, cacheDir)));
    this.#context = contextOf(settings, new Cache(cacheDir, project), machineId);
  }

  /** What this machine is called in update checks and licenses. */
  machineId(): Promise<string> {
    return this.#context.machineId();
  }

  /**
   * Whether there is a newer release. Rejects only when `signal` aborts.
   * @param platform default: this machine's
   */
  checkForUpdate(
    currentVersion: string,
    channel?: string,
    platform?: Platform,
    signal?: AbortSignal,
  ): Promise<UpdateCheck> {
    return checkForUpdate(this.#context, currentVersion, channel, platform, signal);
  }

  /** Whether a license key is good for this project, on this machine. Rejects only when `signal` aborts. */
  validateLicense(key: string, question?: LicenseQuestion, signal?: AbortSignal): Promise<LicenseCheck> {
    return validateLicense(this.#context, key, question, signal);
  }

  /** Verifies a `.lic` for this project and machine, without the server. `licensePublicKey` must be given. */
  loadLicenseFile(pathOrText: string): Promise<LoadedLicenseFile> {
    return loadLicenseFile(this.#context, pathOrText);
  }
}

export const createClient = (options: ClientOptions): Client => new Client(options);
