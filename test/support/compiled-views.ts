/**
 * Caches compiled Handlebars templates, because many services in one process have the same views
 * (adapters/hapi/pages/template-cache.ts) and compiling them is slow.
 */
import Handlebars from 'handlebars';

type Environment = typeof Handlebars;

const programs = new Map<string, hbs.AST.Program>();
const compiledByProgram = new WeakMap<object, Map<string, TemplateSpecification>>();

function cacheCompilation(made: Environment): Environment {
  const { parseWithoutProcessing, precompile } = made;
  made.parseWithoutProcessing = (text, options) => {
    const program = programs.get(text) ?? parseWithoutProcessing(text, options);
    programs.set(text, program);
    return program;
  };
  made.precompile = (program: object, options) => {
    const known = compiledByProgram.get(program) ?? new Map<string, TemplateSpecification>();
    compiledByProgram.set(program, known);
    const key = JSON.stringify(options);
    const code = known.get(key) ?? precompile(program, options);
    known.set(key, code);
    return code;
  };
  return made;
}

const { create } = Handlebars;
Handlebars.create = () => cacheCompilation(create());
