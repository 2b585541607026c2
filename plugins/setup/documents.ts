/** `replace` only affects these (contract 60, token). Keyed by token id or monitor source. */
import type { Doc } from '../../kernel/contract/index.js';

export interface IssuedDoc extends Doc {
  kind: 'application' | 'machine';
  project: string | null;
  name: string;
  by: string;
  at: string;
}

export interface SetupMark extends Doc {
  at: string;
}

export const FIRST_LOGIN_MARK_ID = 'spoken';

export interface MachineDoc extends Doc {
  project: string | null;
  /** Copied from the watchdog; null while the monitor is being created, or after a crash. */
  created_at: string | null;
  at: string;
}
