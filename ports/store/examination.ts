/** Result of reading all stored data. */
export interface StoreExaminationResult {
  ok: boolean;
  documents: number;
  /** At most twenty sentences. */
  damage: readonly string[];
  more: number;
}
