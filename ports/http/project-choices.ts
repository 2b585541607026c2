/** Project selection in the top bar (contract 80). */
export interface ProjectChoices {
  /** Lists the first unarchived projects by slug. @param most at least 1 */
  listFirst(most: number): Promise<{ items: readonly ChoosableProject[]; more: boolean }>;
  /** Finds a project, or null. */
  find(slug: string): Promise<ChoosableProject | null>;
}

export interface ChoosableProject {
  slug: string;
  name: string;
}
