/*
 * The order of search results: pages that explain come first, records of decisions and changes last.
 * A page that has the words in the heading of a section leads to this section.
 */
"use strict";

var Scorer = {
  objNameMatch: 20,
  objPartialMatch: 6,
  objPrio: { 0: 0, 1: 0, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  heading: 8, // added if the heading of a section has all words
  wholeTitle: 12, // added if the words are most of a title
  member: -14, // added for methods and attributes, which many classes have
  pages: [
    [/^models\//, 4],
    [/^decisions\//, -12],
    [/^(changes|benchmarks|quality|contributing|how_it_works|adding_a_family)$/, -6],
    [/^reference\/generated\/suffice\.(NaiveBayes|GaussianDiscriminant|TextNaiveBayes)$/, 2],
    [/^reference\/generated\/suffice\.estimators/, -6],
    [/^reference\//, -3],
  ],

  score: (result) => {
    const [page, title, anchor, description, score, , kind] = result;
    const ofPage = Scorer.pages.find(([pattern]) => pattern.test(page))?.[1] ?? 0;
    if (kind === "object") {
      return score + ofPage + (/ (method|attribute|property),/.test(description) ? Scorer.member : 3);
    }
    if (kind === "title") return score + ofPage + Scorer.wholeTitle;
    if (kind !== "text" || anchor) return score + ofPage;
    const found = Scorer.sectionOf(page);
    if (!found) return score + ofPage;
    [result[1], result[2]] = [`${title} > ${found.heading}`, `#${found.id}`];
    return score + ofPage + Scorer.heading * found.share;
  },

  /* The section of a page whose heading has most words of the query. */
  sectionOf: (page) => {
    const query = new URLSearchParams(window.location.search).get("q") ?? "";
    const words = splitQuery(query.toLowerCase()).filter((word) => !stopwords.has(word));
    const { docnames, alltitles } = Search._index;
    const file = docnames.indexOf(page);
    let best = null;
    for (const [heading, sections] of Object.entries(alltitles)) {
      const id = sections.find((each) => each[0] === file)?.[1];
      if (!id) continue; // another page, or the title of this one
      const named = splitQuery(heading.toLowerCase());
      const count = words.filter((word) => named.some((each) => each.startsWith(word))).length;
      if (count > (best?.count ?? 0)) best = { heading, id, count, share: count / words.length };
    }
    return best;
  },
};
