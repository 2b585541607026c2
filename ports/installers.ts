/** Downloadable update agents (contract 60, installer). */
import type { StoredFile } from './release-store.js';

export interface InstallerFile {
  name: string;
  runtime: string;
  kind: string;
  /** Uncompressed bytes. */
  size: number;
  /** Hex, of the uncompressed file. */
  sha256: string;
}

/** Content of `installer.json`. */
export interface InstallerManifest {
  schema: 1;
  version: string;
  generated_at: string;
  files: readonly InstallerFile[];
}

export type InstallerEncoding = 'br' | 'gzip';

export interface Installers {
  getPendingManifest(): InstallerManifest | null;
  /**
   * Null when none has been built.
   * @throws Error when `installer.json` is invalid
   */
  readManifest(): Promise<InstallerManifest | null>;
  /** Opens a file, optionally compressed. */
  open(name: string, encoding: InstallerEncoding | null): Promise<StoredFile | null>;
}
