"""Columns of 0 and 1 in CSV are yes/no, unless the model needs numbers."""

import numpy as np
import pytest

import suffice
from cli.made import ran, refused, run
from suffice import NaiveBayes
from suffice.exceptions import InputError
from suffice.naive_bayes import GaussianNB


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{i % 7}.5,{i % 2},{int(i % 3 == 0)},{'ab'[i % 5 < 2]}" for i in range(60)]
    (tmp_path / "d.csv").write_text("x,c,w,y\n" + "\n".join(rows) + "\n")
    return tmp_path


def test_weights_are_numbers(place):
    fitted = NaiveBayes().fit("d.csv", "y", sample_weight="w")
    assert fitted.class_count_.sum() == 20
    assert suffice.fit("d.csv", "y", weights="w").class_count_.sum() == 20
    assert "'w'" not in run("fit", "d.csv", "-t", "y", "--weights", "w", "-o", "m.suffice").stderr
    ran("evaluate", "m.suffice", "d.csv", "-t", "y", "--weights", "w")
    ran("fit", "--update", "m.suffice", "d.csv", "-t", "y", "--weights", "w", "-o", "m.suffice")
    ran("remove", "m.suffice", "d.csv", "-t", "y", "--weights", "w", "-o", "less.suffice")


@pytest.mark.parametrize("families", [{"c": "poisson"}, {"c": "poisson", "x": "auto"}, {("x", "c"): "gaussian"}])
def test_a_column_with_a_family_is_numbers(place, families):
    model = NaiveBayes(families=families).fit("d.csv", "y")
    assert dict(zip(model.feature_names_in_, model.fitted_.layout.schema.kinds, strict=True))["c"] == "number"
    assert "c" not in model.fitted_.layout.formats


def test_a_family_of_all_columns_and_models_of_numbers(place):
    for model in (NaiveBayes(families="gaussian"), GaussianNB()):
        fitted = model.fit("d.csv", "y")
        assert not fitted.fitted_.layout.formats


def test_the_command_reads_new_files_in_the_same_way(place):
    result = run("fit", "d.csv", "-t", "y", "--family", "c=poisson", "--ignore", "w", "-o", "m.suffice")
    assert "'c'" not in result.stderr
    assert "poisson" in result.stdout
    (place / "new.csv").write_text("x,c\n1,0\n2,1\n")
    found = ran("predict", "m.suffice", "new.csv")
    (place / "new.csv").write_text("x,c\n1,0\n2,1\n2,2\n")
    assert ran("predict", "m.suffice", "new.csv").startswith(found)


def test_numbers_behind_the_first_rows_of_0_and_1(place):
    with open("long.csv", "w") as file:
        file.write("x,c,y\n" + "1.5,0,a\n2.5,1,b\n" * 100_000 + "1,2,a\n")
    with pytest.raises(InputError, match=r"types=\{'c': 'number'\}") as error:
        suffice.fit("long.csv", "y", validate=False)
    assert error.value.column == "c"
    message = refused("fit", "long.csv", "-t", "y", "-o", "m.suffice")
    assert "'2' is not" in message
    assert "--type c=number" in message
    fitted = NaiveBayes(families={"c": "poisson"}).fit("long.csv", "y")
    assert fitted.class_count_.sum() == 200_001
    fitted.save("m.suffice")
    lines = ran("predict", "m.suffice", "long.csv").splitlines()
    assert len(lines) == 200_002
    assert np.isin([line.split(",")[0] for line in lines[1:]], ["a", "b"]).all()
    with open("long.csv", "a") as file:
        file.write("1,maybe,a\n")
    assert "--type c=category" in refused("fit", "long.csv", "-t", "y", "-o", "m.suffice")
