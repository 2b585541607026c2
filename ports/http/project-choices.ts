/** The project that somebody has chosen in the bar: every list then shows this one alone (contract 80). */
export interface ProjectChoices {
  /** Of those that are not archived the first by slug. @param most at least 1 */
  first(most: number): Promise<{ items: readonly ChoosableProject[]; more: boolean }>;
  /** Null: there is none. */
  find(slug: string): Promise<ChoosableProject | null>;
}

export interface ChoosableProject {
  slug: string;
  name: string;
}
