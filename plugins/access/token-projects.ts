import type { TokenProjects } from '../../ports/domain/tokens.js';

export class KnownProjects implements TokenProjects {
  constructor(private readonly sources: () => readonly TokenProjects[]) {}

  async has(slug: string): Promise<boolean> {
    const known = await Promise.all(this.sources().map((source) => source.has(slug)));
    return known.includes(true);
  }

  async options(): ReturnType<TokenProjects['options']> {
    return (await Promise.all(this.sources().map((source) => source.options()))).flat();
  }
}
