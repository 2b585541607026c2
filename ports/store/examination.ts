/** Result of reading all stored data. */
export interface StoreExaminationResult {
  ok: boolean;
  /** Readable documents. */
  documents: number;
  /** Unreadable data, at most twenty sentences. */
  damage: readonly string[];
  /** Number of further faults. */
  more: number;
}
