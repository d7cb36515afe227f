import { designTokens } from '@convoke/contract';

/** CSS of the page. Its colours are those of all pages; only code and methods have some of their own. */
export const styleSheet = `
${designTokens}
:root {
  --paper: var(--canvas); --sunk: var(--raised); --ink: var(--text); --soft: var(--muted);
  --accent-soft: color-mix(in srgb, var(--accent) 12%, var(--surface));
  --code-paper: light-dark(#1b1b18, #0c0c0b); --code-ink: light-dark(#edece7, #e2e1db); --code-soft: #a3a198;
  --get: var(--done); --post: var(--accent); --put: var(--waiting); --patch: light-dark(#6b3fa0, #bd98ee); --delete: var(--failed);
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1.5rem; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.6 var(--sans); font-variant-numeric: tabular-nums; }
a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: 3px; }
a:focus-visible, summary:focus-visible, pre:focus-visible, button:focus-visible { outline: 2px solid var(--focus); outline-offset: 1px; border-radius: 3px; }
code, pre, .type, .status, .method { font-family: var(--mono); font-size: .86em; }
.prose code, dd code, p code, .quiet code, td div code { background: var(--sunk); border-radius: 4px; padding: .1em .35em; }
.prose pre code { background: none; padding: 0; }
.quiet a { display: inline-block; min-height: 24px; line-height: 24px; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 1rem; top: 1rem; background: var(--surface); padding: .5rem 1rem; z-index: 2; }

.sidebar { position: fixed; inset: 0 auto 0 0; width: 18.5rem; overflow-y: auto; padding: 1rem 1.25rem 3rem; border-right: 1px solid var(--line); background: var(--surface); font-size: .875rem; line-height: 1.35; scrollbar-width: thin; }
.sidebar ul { list-style: none; margin: 0; padding: 0; }
.sidebar a { color: var(--ink); text-decoration: none; }
.sidebar a:hover { color: var(--accent); }
.brand { display: flex; align-items: center; gap: 8px; font-weight: 650; font-size: 15px; line-height: 20px; letter-spacing: -.01em; margin-bottom: 1.1rem; }
.brand svg { width: 20px; height: 20px; flex: none; }
.contents > li { margin-bottom: .85rem; }
.sidebar .group { display: block; font-weight: 600; padding: .15rem 0; }
.moved { display: inline-block; min-height: 24px; }
.names { list-style: none; margin: 0 0 1.25rem; padding: 0; columns: 16rem; column-gap: 1.5rem; font-size: .9rem; }
.names li { break-inside: avoid; overflow-wrap: anywhere; }
#index h3 { margin-top: 1.25rem; }
.open-contents { display: none; width: 100%; padding: .4rem .6rem; border: 1px solid var(--line); border-radius: var(--radius); background: none; color: inherit; font: inherit; text-align: left; cursor: pointer; }
.open-search { display: none; width: 100%; margin: 0 0 1.25rem; padding: .4rem .6rem; border: 1px solid var(--line); border-radius: var(--radius); background: var(--paper); color: var(--soft); font: inherit; text-align: left; cursor: pointer; }
.js .open-search { display: flex; justify-content: space-between; align-items: center; }
.open-search:hover { border-color: var(--accent); color: var(--ink); }
kbd { font-family: var(--mono); font-size: .72rem; border: 1px solid var(--line); border-radius: 4px; padding: 0 .3rem; }
.contents li a { display: block; padding: .22rem 0; min-height: 24px; color: var(--soft); }
.contents .sections { margin: .1rem 0 .5rem; border-left: 1px solid var(--line); }
.contents .sections a { padding-left: .75rem; }
.contents .operation-link { display: grid; grid-template-columns: 3.1rem 1fr; align-items: baseline; }
.sidebar .contents a[aria-current] { color: var(--accent); font-weight: 600; }
.contents ul .method { font-size: .66rem; padding: 0; background: none; border: 0; text-align: left; }

main { margin-left: 18.5rem; padding: 2rem clamp(1.5rem, 4vw, 4rem) 6rem; max-width: 88rem; }
.masthead { border-bottom: 1px solid var(--line); padding-bottom: 1.75rem; margin-bottom: 2rem; }
.eyebrow { margin: 0; color: var(--soft); font-size: .9rem; }
.version { font-family: var(--mono); font-size: .8rem; border: 1px solid var(--line); border-radius: 99px; padding: .1rem .6rem; margin-left: .35rem; }
h1 { font-size: 1.9rem; line-height: 1.2; font-weight: 600; letter-spacing: -.02em; margin: .35rem 0 .5rem; }
h2 { font-size: 1.4rem; line-height: 1.25; font-weight: 600; letter-spacing: -.01em; margin: 0 0 .4rem; }
h3 { font-size: 1.05rem; line-height: 1.35; font-weight: 600; margin: 0 0 .35rem; }
.reading h3 { font-size: .8rem; font-weight: 600; margin: 1.5rem 0 .35rem; color: var(--soft); text-transform: uppercase; letter-spacing: .06em; }
.reading h3 .note { text-transform: none; letter-spacing: 0; font-family: var(--mono); font-weight: 400; }
.tagline { margin: 0; font-size: 1rem; color: var(--soft); }
.prose { max-width: 46rem; }
.lead { max-width: 46rem; color: var(--soft); margin: 0 0 1rem; }
main > section + section { margin-top: 3.5rem; }
.steps { padding-left: 0; list-style: none; counter-reset: step; }
.steps li { counter-increment: step; position: relative; padding: .3rem 0 .3rem 2.4rem; }
.steps li::before { content: counter(step); position: absolute; left: 0; top: .4rem; width: 1.55rem; height: 1.55rem; border-radius: 50%; background: var(--accent-soft); color: var(--accent); font-weight: 600; font-size: .85rem; line-height: 1.55rem; text-align: center; }
.rulebook { display: grid; grid-template-columns: 8.5rem 1fr; gap: .55rem 1rem; margin: 1rem 0 2rem; }
.rulebook dt { font-weight: 600; }
.rulebook dd { margin: 0; }

.operation { padding: 2rem 0 2.25rem; }
.operation + .operation { border-top: 1px solid var(--line); }
.operation h2 { font-size: 1.15rem; letter-spacing: -.01em; }
.anchor { color: var(--soft); font-weight: 400; text-decoration: none; opacity: 0; padding: 0 .2em; }
:is(h1, h2, h3, h4):hover .anchor, .anchor:focus-visible { opacity: 1; }
h1 .anchor { display: none; }
.route { margin: .35rem 0; display: flex; gap: .6rem; align-items: baseline; }
.route code { background: none; padding: 0; font-size: .92rem; overflow-wrap: break-word; min-width: 0; }
.route var { font-style: normal; color: var(--accent); }
.who { margin: 0; display: flex; flex-wrap: wrap; gap: .35rem; }
.chip { font-size: .78rem; border: 1px solid var(--line); border-radius: 99px; padding: .05rem .65rem; color: var(--soft); text-decoration: none; white-space: nowrap; }
.chip.scope { font-family: var(--mono); font-size: .75rem; color: var(--accent); background: var(--accent-soft); border-color: transparent; }
.chip.terminal { font-weight: 400; color: var(--put); border-color: currentColor; }
.method { font-weight: 700; font-size: .72rem; letter-spacing: .03em; border: 1px solid currentColor; border-radius: 4px; padding: .1rem .4rem; white-space: nowrap; }
.method.get { color: var(--get); } .method.post { color: var(--post); } .method.put { color: var(--put); }
.method.patch { color: var(--patch); } .method.delete { color: var(--delete); }
.columns { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 30rem); gap: 2.5rem; margin-top: 1rem; }
@media (max-width: 90rem) { .columns { grid-template-columns: minmax(0, 1fr) minmax(0, 25rem); gap: 1.75rem; } .columns .fields th { width: 9.5rem; } }
.reading > :first-child { margin-top: 0; }
.samples { position: sticky; top: 1.5rem; align-self: start; display: grid; grid-template-columns: minmax(0, 1fr); gap: .75rem; }
.samples figure { margin: 0; min-width: 0; }
.samples figcaption { font-family: var(--mono); font-size: .75rem; color: var(--soft); padding: 0 0 .25rem .1rem; }
pre { margin: 0; background: var(--code-paper); color: var(--code-ink); border: 1px solid transparent; border-radius: var(--radius); padding: .9rem 1rem; overflow: auto; max-height: 24rem; font-size: .8rem; line-height: 1.55; scrollbar-width: thin; scrollbar-color: var(--code-soft) transparent; }
pre code { font-size: inherit; }
.snippet { position: relative; min-width: 0; }
.copy { position: absolute; top: .45rem; right: .45rem; padding: .1rem .5rem; border: 1px solid var(--code-soft); border-radius: 5px; background: var(--code-paper); color: var(--code-ink); font: .72rem var(--sans); cursor: pointer; opacity: 0; }
.snippet:hover .copy, .snippet:focus-within .copy { opacity: 1; }
@media (hover: none) { .copy { opacity: .85; } .open-search kbd { display: none; } }
.tabs { min-width: 0; position: relative; }
.tabs input { position: absolute; opacity: 0; pointer-events: none; }
.tabs label { display: inline-block; padding: .15rem .6rem .3rem; font-size: .82rem; color: var(--soft); cursor: pointer; border-bottom: 2px solid transparent; }
.tabs label:hover { color: var(--ink); }
.tabs input:checked + label { color: var(--accent); border-color: var(--accent); }
.tabs input:focus-visible + label { outline: 2px solid var(--accent); outline-offset: 1px; border-radius: 3px; }
.tabs .panel { display: none; margin-top: .4rem; }
.tabs input[value="curl"]:checked ~ .curl, .tabs input[value="sdk"]:checked ~ .sdk, .tabs input[value="python"]:checked ~ .python { display: block; }

.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: left; vertical-align: top; padding: .5rem .75rem .5rem 0; border-top: 1px solid var(--line); font-weight: 400; }
tr:first-child > th, tr:first-child > td { border-top: 0; }
.fields th { width: 14rem; min-width: 9rem; overflow-wrap: anywhere; }
.fields th code { font-weight: 600; font-size: .88em; background: none; padding: 0; }
.depth-1 { padding-left: 1.1rem; } .depth-2 { padding-left: 2.2rem; } .depth-3 { padding-left: 3.3rem; }
.optional { display: block; font-size: .75rem; color: var(--soft); line-height: 1.3; }
.type { color: var(--soft); overflow-wrap: anywhere; }
.rules { color: var(--soft); font-size: .85rem; }
.rules i { margin: 0 .4rem; font-style: normal; }
.plain th { width: 17rem; white-space: nowrap; }
.plain th code { font-weight: 600; }
.rules code, td .quiet code { white-space: nowrap; }
#scopes h3 { margin-top: 2rem; }
.quiet { color: var(--soft); font-size: .88rem; margin: .35rem 0; }
td .quiet a { margin-right: .35rem; }
.variant { margin: 1rem 0 0; }
.answers { list-style: none; padding: 0; margin: 0; }
.answers li { display: grid; grid-template-columns: 3.2rem 1fr; gap: .25rem; padding: .35rem 0; }
.status { color: var(--delete); font-weight: 600; }
.status.ok { color: var(--get); }
.refusals { margin-top: .5rem; }
summary { cursor: pointer; font-size: .92rem; padding: .25rem 0; }
summary .note { color: var(--soft); font-size: .82rem; margin-left: .25rem; }
.code { font-family: var(--mono); font-size: .8rem; margin-right: .5rem; display: inline-block; text-decoration: none; }
.code:hover { text-decoration: underline; }
.entries { columns: 30rem; column-gap: 1.25rem; margin-top: 1.25rem; }
.entry { break-inside: avoid; margin-bottom: 1.25rem; border: 1px solid var(--line); border-radius: var(--radius); background: var(--surface); padding: 1.1rem 1.25rem .6rem; min-width: 0; }
.entry h2 { font-family: var(--mono); font-size: 1rem; }
.entry p { margin: 0 0 .5rem; color: var(--soft); font-size: .92rem; }
.entry .fields th { width: 14rem; }
:target { scroll-margin-top: 1.5rem; }
.entry:target, tr:target { background: var(--accent-soft); }

.search { width: min(40rem, calc(100vw - 2rem)); max-height: min(36rem, calc(100vh - 6rem)); margin: 12vh auto auto; padding: 0; border: 1px solid var(--line); border-radius: 12px; background: var(--surface); color: var(--ink); overflow: hidden; }
.search[open] { display: flex; flex-direction: column; }
.search::backdrop { background: rgb(0 0 0 / .4); }
.search input { width: 100%; padding: .9rem 1.1rem; border: 0; border-bottom: 1px solid var(--line); background: none; color: inherit; font: 1rem var(--sans); outline: none; }
.search ul { list-style: none; margin: 0; padding: .4rem; overflow-y: auto; }
.search a { display: grid; grid-template-columns: 4.2rem minmax(0, auto) minmax(0, 1fr); gap: 0 .6rem; align-items: baseline; padding: .4rem .6rem; border-radius: 6px; color: inherit; text-decoration: none; }
.search a:is(:hover, :focus) { background: var(--accent-soft); outline: none; }
.search .kind { font-family: var(--mono); font-size: .7rem; color: var(--soft); }
.search .also { font-size: .78rem; color: var(--soft); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.search .excerpt { grid-column: 2 / -1; font-size: .8rem; color: var(--soft); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.search .none { padding: 0 1.1rem 1rem; color: var(--soft); }

.guide h1 { font-size: 2.2rem; margin: 0 0 1rem; }
.guide h2 { margin: 2.5rem 0 .6rem; font-size: 1.45rem; }
.guide h3 { margin: 1.75rem 0 .4rem; }
.guide p, .guide ul, .guide ol { margin: .75rem 0; }
.guide li { margin: .3rem 0; }
.guide .snippet { margin: .9rem 0; }
.guide pre { max-height: none; }
.guide blockquote { margin: 1rem 0; padding: 0 1rem; border-left: 3px solid var(--line); color: var(--soft); }
.guide.prose { max-width: 50rem; overflow-wrap: anywhere; }
table.guide td { overflow-wrap: normal; }
table.guide { margin: .75rem 0; }
table.guide th { font-weight: 600; white-space: nowrap; }
table.guide code, .guide li code { background: var(--sunk); border-radius: 4px; padding: .1em .35em; overflow-wrap: anywhere; }
.guide pre code { background: none; padding: 0; overflow-wrap: normal; }
.fields-of { margin: .35rem 0; }
.fields-of summary { color: var(--accent); }

@media (max-width: 68rem) { .columns { grid-template-columns: minmax(0, 1fr); gap: 1.25rem; } .samples { position: static; } .reading { max-width: 50rem; } .samples { max-width: 50rem; } }
@media (max-width: 56rem) {
  .sidebar { position: static; width: auto; border-right: 0; border-bottom: 1px solid var(--line); padding: 1rem 1.25rem; }
  .brand { margin-bottom: .5rem; }
  .js .open-contents { display: block; }
  .js .open-search { margin-bottom: .6rem; }
  .js .sidebar:not(.open) .contents { display: none; }
  .contents { columns: 14rem; margin-top: .75rem; } .contents > li { break-inside: avoid; } .contents > li > ul > li { break-inside: avoid; }
  main { margin-left: 0; padding-top: 2rem; }
  h1 { font-size: 2.1rem; }
  .rulebook { grid-template-columns: 1fr; gap: 0; } .rulebook dd { margin-bottom: .75rem; }
  .fields th { width: 9.5rem; } .plain th { white-space: normal; overflow-wrap: anywhere; width: 11rem; }
}
@media print { .sidebar { display: none; } main { margin: 0; } pre { max-height: none; white-space: pre-wrap; } }
`;
