/** Constructor injection: what the container makes. */
import { expect } from 'chai';
import { ContainerScope } from '../../kernel/container.js';
import { inject, injectable, token } from '../../kernel/contract/index.js';

const NAME = token<string>('name');

@injectable()
class Store {
  constructor(@inject(NAME) readonly name: string) {}
}

@injectable()
class Reader {
  constructor(@inject(Store) readonly store: Store) {}
}

@injectable()
class Writer {
  constructor(
    @inject(Store) readonly store: Store,
    @inject(Reader) readonly reader: Reader,
  ) {}
}

describe('kernel/container', () => {
  it('creates each class once with all its dependencies, in any order', () => {
    const scope = ContainerScope.createRoot({ name: 'shop' });
    const { writer, reader } = scope.services({ writer: Writer, reader: Reader });
    expect(writer.reader).to.equal(reader);
    expect(writer.store).to.equal(reader.store);
    expect(writer.store.name).to.equal('shop');
    expect(scope.services({ again: Writer }).again).to.equal(writer);
  });

  it('isolates two plugins, and prefers the plugin’s own values', () => {
    const root = ContainerScope.createRoot({ name: 'root' });
    const [one, two] = [root.createChild({}), root.createChild({ name: 'two' })];
    expect(one.services({ store: Store }).store).to.not.equal(two.services({ store: Store }).store);
    expect(one.services({ store: Store }).store.name).to.equal('root');
    expect(two.services({ store: Store }).store.name).to.equal('two');
  });

  it('replaces a class by another value', () => {
    const scope = ContainerScope.createRoot();
    const fake = { name: 'fake' };
    scope.bind(Store, fake);
    expect(scope.services({ reader: Reader }).reader.store).to.equal(fake);
  });

  it('names the class and the unbound token', () => {
    expect(() => ContainerScope.createRoot().services({ writer: Writer })).to.throw(
      'Store: its constructor needs "name", which is not bound: check that the manifest declares it',
    );
  });

  it('names the parameter that lacks @inject', () => {
    @injectable()
    class Half {
      constructor(
        @inject(NAME) readonly name: string,
        readonly rest: string,
      ) {}
    }
    expect(() => ContainerScope.createRoot({ name: '' }).services({ half: Half })).to.throw(
      'Half: parameter 2 of its constructor has no @inject(…)',
    );
  });

  it('reports a cycle with its path', () => {
    class Egg {
      constructor(readonly hen: object) {}
    }
    class Hen {
      constructor(readonly egg: Egg) {}
    }
    class Farm {
      constructor(readonly hen: Hen) {}
    }
    // As plain JavaScript writes it: with the syntax of decorators a class stands behind those that
    // it names.
    inject(Egg)(Hen, undefined, 0);
    inject(Hen)(Egg, undefined, 0);
    inject(Hen)(Farm, undefined, 0);
    expect(() => ContainerScope.createRoot().services({ farm: Farm })).to.throw(
      'services have a dependency cycle: Hen → Egg → Hen',
    );
  });

  it('reports an @inject without a token', () => {
    expect(() => inject(undefined as unknown as typeof Store)).to.throw('no two modules import each other');
  });
});
