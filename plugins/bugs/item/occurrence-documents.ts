/** The documents of kept occurrences. */
import type { ErrorLevel } from '../../../ports/domain/bugs.js';
import type { LateFrames } from '../../../ports/domain/frames.js';
import type { Json } from '../../../ports/store.js';

/** A kept occurrence. */
export interface OccurrenceDoc {
  /** `<item>:<slot>` */
  id: string;
  item_id: string;
  occurrence_id: string;
  occurred_at: string;
  received_at: string;
  error_message: string | null;
  exception_class: string | null;
  error_level: ErrorLevel | null;
  stack_trace: string | null;
  environment: string | null;
  app_version: string | null;
  commit_sha: string | null;
  file_path: string | null;
  line_no: number | null;
  host: string | null;
  client_ref: string | null;
  tags: string[];
  context: Json;
  breadcrumbs: Json;
  /** The key that it was counted by; missing in occurrences from before this field. */
  dedup_key?: string;
  /** The function that the reporter stated beside the file. */
  function_name?: string;
  /** Frames that source maps could not rewrite in time, and when the next attempt is due. */
  late?: LateFrames & { tries: number };
  late_at?: string;
  /** Its frames were rewritten after it was counted. */
  rewritten?: true;
}

/** An occurrence of an earlier version: all other fields are in `packed` (payload.ts). */
export interface PackedOccurrence extends Pick<
  OccurrenceDoc,
  'id' | 'item_id' | 'occurrence_id' | 'occurred_at' | 'received_at'
> {
  packed: string;
}

/** The report that made the item. Its stack trace is stored once, among the texts of the item, which keep it. */
export interface FirstOccurrence extends OccurrenceDoc {
  stack_trace: null;
  stack_of_item: true;
}

export type StoredOccurrence =
  (OccurrenceDoc & { packed?: undefined; stack_of_item?: undefined }) | FirstOccurrence | PackedOccurrence;
