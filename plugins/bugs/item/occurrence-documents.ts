import type { ErrorLevel } from '../../../ports/domain/bugs.js';
import type { UnmappedFrames } from '../../../ports/domain/frame-rewriting.js';
import type { Json } from '../../../ports/store/index.js';

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
  /** Missing in old occurrences. */
  dedup_key?: string;
  function_name?: string;
  /** Not yet rewritten by source maps, and the next attempt. */
  late?: UnmappedFrames & { tries: number };
  late_at?: string;
  rewritten?: true;
}

/** Of an earlier version, in `packed` (occurrence-payload.ts). */
export interface PackedOccurrence extends Pick<
  OccurrenceDoc,
  'id' | 'item_id' | 'occurrence_id' | 'occurred_at' | 'received_at'
> {
  packed: string;
}

/** Its stack trace is stored once, in the item's texts. */
export interface FirstOccurrence extends OccurrenceDoc {
  stack_trace: null;
  stack_of_item: true;
}

export type StoredOccurrence =
  (OccurrenceDoc & { packed?: undefined; stack_of_item?: undefined }) | FirstOccurrence | PackedOccurrence;
