# What R's e1071::naiveBayes and the CRAN package naivebayes say of small tables; prints one JSON object.
#
#     NAIVEBAYES_SOURCE=<folder of naivebayes' R files> Rscript tests/oracles/naive_bayes.R > tests/oracles/naive_bayes.json
#
# Needs e1071 and mlbench (Debian: r-cran-e1071, r-cran-mlbench). naivebayes is used where installed;
# otherwise the R files of its source in the folder NAIVEBAYES_SOURCE are read. The JSON here was made so, with files
# of versions 0.9.6 and 0.9.7 from github.com/majkamichal/naivebayes.
# The tests need only the JSON.
suppressMessages({library(e1071); library(mlbench)})
installed <- requireNamespace("naivebayes", quietly = TRUE)
if (installed) {
  suppressMessages(library(naivebayes))
} else {
  folder <- Sys.getenv("NAIVEBAYES_SOURCE")
  if (folder == "") stop("install naivebayes, or name a folder of its R files in NAIVEBAYES_SOURCE")
  for (file in list.files(folder, pattern = "\\.R$", full.names = TRUE)) source(file)
}

# ---- JSON by hand
number <- function(x) {
  short <- sprintf("%.15g", x)
  exact <- is.na(x) | suppressWarnings(as.numeric(short)) == x
  ifelse(is.na(x), "null", ifelse(exact, short, sprintf("%.17g", x)))
}
text <- function(x) ifelse(is.na(x), "null", paste0('"', x, '"'))
many <- function(x) paste0("[", paste(x, collapse = ","), "]")
object <- function(...) {
  parts <- list(...)
  paste0("{", paste0('"', names(parts), '":', unlist(parts), collapse = ","), "}")
}
values <- function(v) {
  many(if (is.logical(v)) ifelse(is.na(v), "null", tolower(v)) else if (is.numeric(v)) number(v) else text(as.character(v)))
}
column <- function(v, new) {
  kind <- if (is.factor(v)) "factor" else if (is.logical(v)) "logical" else if (is.integer(v)) "integer" else "numeric"
  parts <- list(kind = text(kind), values = values(v), new = values(new))
  if (is.factor(v)) parts$levels <- many(text(levels(v)))
  do.call(object, parts)
}

tables <- c()
cases <- c()
kept <- list()

keep <- function(name, x, y, new) {
  x <- as.data.frame(x)
  new <- as.data.frame(new)
  stopifnot(identical(names(x), names(new)), identical(lapply(x, class), lapply(new, class)))
  kept[[name]] <<- list(x = x, y = y, new = new)
  columns <- Map(column, x, new)
  tables <<- c(tables, sprintf('"%s":%s', name, object(
    y = many(text(as.character(y))), classes = many(text(levels(y))), columns = do.call(object, columns))))
}

# The posterior with two thresholds for vanishing probabilities: the same, so that nothing was clamped.
run <- function(name, table, fit, settings, wants = "data.frame", type = "prob", clamps = TRUE) {
  data <- kept[[table]]
  made <- if (wants == "matrix") lapply(data[c("x", "new")], as.matrix) else data[c("x", "new")]
  model <- suppressWarnings(fit(made$x, data$y))
  posterior <- function(rows) {
    found <- function(...) unname(suppressWarnings(predict(model, rows, type = type, ...)))
    first <- found()
    if (clamps) stopifnot(identical(first, found(threshold = 1e-9)))
    stopifnot(dim(first) == c(nrow(rows), nlevels(data$y)), all(is.finite(first)))
    many(apply(first, 1, function(r) many(sprintf("%.17g", r))))
  }
  cases <<- c(cases, sprintf('"%s":%s', name, object(
    table = text(table), settings = settings, posterior = posterior(made$x), new_posterior = posterior(made$new))))
}

# ---- the tables
data(HouseVotes84)
part <- 131:250
keep("votes", HouseVotes84[part, -1], HouseVotes84$Class[part], HouseVotes84[c(1, 108, 249, 268, 412), -1])

i <- 1:75
flowers <- iris[2 * i - 1, ]
rownames(flowers) <- NULL
mixed <- data.frame(
  sepal_length = flowers$Sepal.Length, sepal_width = flowers$Sepal.Width, petal_width = flowers$Petal.Width,
  width = cut(flowers$Sepal.Width, c(0, 2.95, 3.15, 9), labels = c("narrow", "middle", "wide")),
  long = flowers$Sepal.Length > 5.2)
mixed$sepal_length[i %% 7 == 0] <- NA
mixed$petal_width[i %% 11 == 3] <- NA
mixed$width[i %% 9 == 4] <- NA
mixed$long[i %% 13 == 1] <- NA
new <- data.frame(
  sepal_length = c(5.1, 6.05, NA, 4.2, NA, 7.3), sepal_width = c(3.3, 2.6, 3, NA, NA, 3.9),
  petal_width = c(0.25, 1.45, 1.9, 1, NA, NA),
  width = factor(c("wide", "narrow", NA, "middle", NA, "wide"), levels = levels(mixed$width)),
  long = c(FALSE, TRUE, TRUE, NA, NA, FALSE))
keep("mixed", mixed, flowers$Species, new)

counted <- cbind(mixed, count = as.integer(floor(flowers$Petal.Length) + i %% 3))
counted$count[i %% 8 == 2] <- NA
keep("mixed with a count", counted, flowers$Species, cbind(new, count = c(0L, 4L, 9L, NA, NA, 2L)))

# No setosa is narrow here, and nothing is huge.
sizes <- c("narrow", "middle", "wide", "huge")
sparse <- mixed
sparse$width <- cut(flowers$Sepal.Width, c(0, 2.75, 3.05, 9, 10), labels = sizes)
sparse$width[i %% 9 == 4] <- NA
newer <- new
newer$width <- factor(c("wide", "narrow", NA, "huge", NA, "huge"), levels = sizes)
keep("mixed with an empty level", sparse, flowers$Species, newer)

i <- 1:24
k <- ifelse(i %% 5 == 0, 3, ifelse(i %% 2 == 0, 1, 2))
y <- factor(c("a", "b", "c")[k])
counts <- sapply(1:5, function(j) as.integer((i * i * j + 2 * i + k) %% (3 + j)))
colnames(counts) <- paste0("x", 1:5)
new <- matrix(as.integer(c(0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 0, 1, 0, 3, 2, 2, 0, 7, 1)), ncol = 5, byrow = TRUE,
              dimnames = list(NULL, colnames(counts)))
punched <- counts
punched[(row(counts) + 3 * col(counts)) %% 11 == 0] <- NA
new_punched <- new
new_punched[cbind(c(2, 2, 3, 4, 4, 4, 4, 4), c(1, 4, 2, 1:5))] <- NA
emptied <- counts
emptied[y == "c", 2] <- 0L
keep("counts", counts, y, new)
keep("counts with holes", punched, y, new_punched)
keep("counts with an empty cell", emptied, y, new)
half <- function(m) (m %% 4L) %/% 2L
keep("binary", half(counts), y, half(new))
keep("binary with holes", half(punched), y, half(new_punched))

# ---- the cases
for (laplace in c(0, 1)) {
  for (table in c("votes", "mixed", "mixed with an empty level")) {
    if (laplace == 0 && table == "mixed with an empty level") next
    set <- object(laplace = laplace)
    run(sprintf("e1071 naiveBayes %s laplace=%g", table, laplace), table,
         function(x, y) naiveBayes(x, y, laplace = laplace), set, type = "raw")
    set <- object(laplace = laplace, usepoisson = "false")
    run(sprintf("naivebayes naive_bayes %s laplace=%g", table, laplace), table,
         function(x, y) naive_bayes(x, y, laplace = laplace, usepoisson = FALSE), set)
  }
  table <- "mixed with a count"
  set <- object(laplace = laplace, usepoisson = "true")
  run(sprintf("naivebayes naive_bayes %s laplace=%g", table, laplace), table,
       function(x, y) naive_bayes(x, y, laplace = laplace, usepoisson = TRUE), set)
  for (table in c("counts", "counts with holes", "counts with an empty cell")) {
    run(sprintf("naivebayes poisson_naive_bayes %s laplace=%g", table, laplace), table,
         function(x, y) poisson_naive_bayes(x, y, laplace = laplace), object(laplace = laplace), "matrix")
  }
}
for (laplace in c(0.5, 1)) {
  for (table in c("binary", "binary with holes")) {
    run(sprintf("naivebayes bernoulli_naive_bayes %s laplace=%g", table, laplace), table,
         function(x, y) bernoulli_naive_bayes(x, y, laplace = laplace), object(laplace = laplace), "matrix", clamps = FALSE)
  }
  for (table in c("counts", "counts with holes", "counts with an empty cell")) {
    run(sprintf("naivebayes multinomial_naive_bayes %s laplace=%g", table, laplace), table,
         function(x, y) multinomial_naive_bayes(x, y, laplace = laplace), object(laplace = laplace), "matrix", clamps = FALSE)
  }
}

made <- object(R = text(as.character(getRversion())), e1071 = text(as.character(packageVersion("e1071"))),
               naivebayes = text(if (installed) as.character(packageVersion("naivebayes")) else "source"))
cat('{\n"made_with":', made, ',\n"tables":{\n', paste(tables, collapse = ",\n"), '\n},\n"cases":{\n',
    paste(cases, collapse = ",\n"), "\n}\n}\n", sep = "")
