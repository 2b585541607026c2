/** What goes with a project, wherever it is kept: tokens first, which end at once. */
import { added, collection, inject, injectable, type Collection, type Doc } from '../../kernel/contract.js';
import { PROJECT_BELONGINGS, type ProjectBelongings } from '../../ports/domain/projects.js';
import { TOKENS, type TokenIssuer } from '../../ports/domain/tokens.js';

@injectable()
export class Belongings {
  constructor(
    @inject(TOKENS) private readonly tokens: Pick<TokenIssuer, 'removeProject'>,
    @inject(collection<Doc>('brands')) private readonly brands: Collection<Doc>,
    @inject(added(PROJECT_BELONGINGS)) private readonly belongings: () => readonly ProjectBelongings[],
  ) {}

  /** Before a project is made: what a process bound to an earlier one of this slug while that was being deleted. */
  async clear(slug: string): Promise<void> {
    await this.tokens.removeProject(slug);
    await this.brands.remove({ id: slug });
    for (const one of this.belongings()) await one.clear(slug);
  }

  /** With its project. */
  async leave(slug: string): Promise<void> {
    await this.clear(slug);
    for (const one of this.belongings()) await one.detach?.(slug);
  }
}
