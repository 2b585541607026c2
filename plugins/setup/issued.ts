/**
 * What the setup path has issued: `replace` touches nothing else (contract 60, token). A token's row is named by the
 * token's id, a monitor's by its source.
 */
import type { Doc } from '../../kernel/contract.js';

/** A token, of an application or of a machine. */
export interface IssuedDoc extends Doc {
  kind: 'application' | 'machine';
  project: string | null;
  /** The token's name; of a machine its monitor's source. */
  name: string;
  /** Of the account that had logged in. */
  by: string;
  at: string;
}

/** What has happened once: `spoken`, the first log-in of a machine. */
export interface SetupMark extends Doc {
  at: string;
}

export const SPOKEN = 'spoken';

/** A monitor that the setup path has made. */
export interface MachineDoc extends Doc {
  project: string | null;
  /** As the watchdog has it; null while the monitor is being made: a crash may have left it so. */
  created_at: string | null;
  /** When the making began. */
  at: string;
}
