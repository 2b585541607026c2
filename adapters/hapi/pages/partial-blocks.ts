/**
 * Calls of partials with a block (`{{#> page-header}} … {{/page-header}}`), done here and not by Handlebars. It writes
 * a function right into a property, and V8 makes the functions of such lines among its old objects: the block of each
 * page held the page with all its rows until the whole heap was looked through, and so that was often (decision 020).
 */
import Handlebars from 'handlebars';

type Fields = Record<string, unknown>;
type Block = ((context: unknown, options: Partial<Call>) => string) & { partials?: Fields };

/** What a template hands over with a call. */
interface Call {
  data: Fields;
  fn: Block;
  partials: Fields;
}

type Invoke = (partial: unknown, context: unknown, call: Call) => string | undefined;
interface Machine {
  invokePartial: Invoke;
  noop: Block;
}

const BLOCK = 'partial-block';

/** Takes the place of Handlebars' own way in an environment (its `VM` is there to be changed). */
export function callBlocksYoung(environment: typeof Handlebars): void {
  const own = environment as unknown as { VM: Machine };
  own.VM = { ...own.VM, invokePartial: invokerFor(own.VM) };
}

function invokerFor({ invokePartial, noop }: Machine): Invoke {
  return (partial, context, call) => {
    const { fn, data } = call;
    if (fn === undefined || fn === noop) return invokePartial(partial, context, call);
    // Within the block, `@partial-block` is what it was around the call.
    const around = data[BLOCK];
    const block: Block = (inner, options) => {
      const frame = Handlebars.createFrame(options.data) as Fields;
      frame[BLOCK] = around;
      return fn(inner, { ...options, data: frame });
    };
    call.data = Handlebars.createFrame(data) as Fields;
    call.data[BLOCK] = block;
    call.fn = noop;
    if (fn.partials !== undefined) call.partials = { ...call.partials, ...fn.partials };
    return invokePartial(partial ?? block, context, call);
  };
}
