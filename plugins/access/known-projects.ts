/** What others say about projects, as one: a token is bound to one that somebody knows. */
import type { TokenProjects } from '../../ports/domain/access.js';

export class KnownProjects implements TokenProjects {
  constructor(private readonly sources: () => readonly TokenProjects[]) {}

  async has(slug: string): Promise<boolean> {
    const known = await Promise.all(this.sources().map((source) => source.has(slug)));
    return known.includes(true);
  }

  async slugs(): Promise<readonly string[]> {
    return (await Promise.all(this.sources().map((source) => source.slugs()))).flat();
  }
}
