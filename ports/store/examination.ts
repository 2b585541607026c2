/** What reading all that is stored has found. */
export interface Examined {
  ok: boolean;
  /** How many documents could be read. */
  documents: number;
  /** What cannot be read: a sentence each, at most twenty. */
  damage: readonly string[];
  /** How many more there are. */
  more: number;
}
