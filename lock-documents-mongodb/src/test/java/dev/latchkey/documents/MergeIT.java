package dev.latchkey.documents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.bson.BsonString;
import org.bson.Document;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Base, mine, theirs: both begin with the same document. */
class MergeIT {

    private final MongoCollection<Document> stored = TestDatabase.newCollection();
    private final VersionedCollection<Document> posts = VersionedCollection.of(stored);

    private Document base = new Document();
    private Document mine = new Document();
    private Document theirs = new Document();

    @BeforeEach
    void bothLoad() {
        posts.insert(new Document("_id", 1)
                .append("title", "Foo")
                .append("body", "text")
                .append("meta", new Document("lang", "en").append("draft", true)));
        base = posts.find(1).orElseThrow();
        mine = posts.find(1).orElseThrow();
        theirs = posts.find(1).orElseThrow();
    }

    private Document load() {
        return Objects.requireNonNull(stored.find(Filters.eq(1)).first());
    }

    @Test
    void givenNobodyElse_whenMerged_thenSaved() throws InterruptedException {
        assertThat(posts.merge(base, mine.append("title", "Mine"))).isInstanceOf(ChangeResult.Updated.class);
        assertThat(load()).containsEntry("title", "Mine").containsEntry("version", 2);
    }

    @Test
    void givenDifferentProperties_whenMerged_thenBothChangesStay() throws InterruptedException {
        posts.replace(theirs.append("body", "theirs"));

        ChangeResult<Document> outcome = posts.merge(base, mine.append("title", "Mine"), MergePolicy.REFUSE);

        assertThat(outcome.orElseThrow()).isEqualTo(load());
        assertThat(load())
                .containsEntry("title", "Mine")
                .containsEntry("body", "theirs")
                .containsEntry("version", 3);
    }

    @Test
    void givenDifferentPropertiesOfOneEmbeddedDocument_whenMerged_thenBothChangesStay() throws InterruptedException {
        posts.replace(theirs.append("meta", new Document("lang", "de").append("draft", true)));

        posts.merge(base, mine.append("meta", new Document("lang", "en").append("draft", false)), MergePolicy.REFUSE);

        assertThat(load()).containsEntry("meta", new Document("lang", "de").append("draft", false));
    }

    @Test
    void givenEqualChanges_whenMerged_thenTheyAgreeAndNothingIsWritten() throws InterruptedException {
        posts.replace(theirs.append("title", "Same"));

        assertThat(posts.merge(base, mine.append("title", "Same"), MergePolicy.REFUSE))
                .isInstanceOf(ChangeResult.Unchanged.class);
        assertThat(load()).containsEntry("version", 2);
    }

    @Test
    void givenBothTookThePropertyAway_whenMerged_thenTheyAgree() throws InterruptedException {
        theirs.remove("body");
        mine.remove("body");
        posts.replace(theirs.append("title", "Theirs"));

        posts.merge(base, mine, MergePolicy.REFUSE);

        assertThat(load()).doesNotContainKey("body").containsEntry("title", "Theirs");
    }

    @Test
    void givenSameProperty_whenMergedByTheDefault_thenMineWins() throws InterruptedException {
        posts.replace(theirs.append("title", "Theirs"));

        posts.merge(base, mine.append("title", "Mine"));

        assertThat(load()).containsEntry("title", "Mine");
    }

    @Test
    void givenIChangedAndTheyTookAway_whenMergedByTheDefault_thenTheDeletionWins() throws InterruptedException {
        theirs.remove("body");
        posts.replace(theirs);

        posts.merge(base, mine.append("body", "mine").append("title", "Mine"));

        assertThat(load()).doesNotContainKey("body").containsEntry("title", "Mine");
    }

    @Test
    void givenITookAwayAndTheyChanged_whenMergedByTheDefault_thenTheDeletionWins() throws InterruptedException {
        posts.replace(theirs.append("body", "theirs"));
        mine.remove("body");

        posts.merge(base, mine);

        assertThat(load()).doesNotContainKey("body");
    }

    @Test
    void givenPolicyTheirs_whenMerged_thenOnlyMyOtherChangesAreSaved() throws InterruptedException {
        posts.replace(theirs.append("title", "Theirs"));

        posts.merge(base, mine.append("title", "Mine").append("body", "mine"), MergePolicy.THEIRS);

        assertThat(load()).containsEntry("title", "Theirs").containsEntry("body", "mine");
    }

    @Test
    void givenPolicyRefuse_whenMerged_thenExceptionWithBothVersionsAndNothingWritten() {
        posts.replace(theirs.append("title", "Theirs"));

        OptimisticLockException refused = catchThrowableOfType(
                OptimisticLockException.class,
                () -> posts.merge(base, mine.append("title", "Mine"), MergePolicy.REFUSE));

        assertThat(refused.expected()).contains(Version.of(1));
        assertThat(refused.actual()).contains(Version.of(2));
        assertThat(load()).containsEntry("title", "Theirs").containsEntry("version", 2);
    }

    @Test
    void givenHandler_whenMerged_thenItSeesAllThreeValuesAndDecides() throws InterruptedException {
        posts.replace(theirs.append("meta", new Document("lang", "de").append("draft", true)));
        List<MergePolicy.Conflict> asked = new ArrayList<>();

        posts.merge(base, mine.append("meta", new Document("lang", "fr").append("draft", true)), conflict -> {
            asked.add(conflict);
            return Optional.of(new BsonString("de,fr"));
        });

        assertThat(asked)
                .containsExactly(new MergePolicy.Conflict(
                        "meta.lang",
                        Optional.of(new BsonString("en")),
                        Optional.of(new BsonString("fr")),
                        Optional.of(new BsonString("de"))));
        assertThat(load()).containsEntry("meta", new Document("lang", "de,fr").append("draft", true));
    }

    @Test
    void givenTheyDeletedTheDocument_whenMergedByTheDefault_thenItStaysDeleted() throws InterruptedException {
        posts.delete(theirs);

        assertThat(posts.merge(base, mine.append("title", "Mine"))).isInstanceOf(ChangeResult.DeletedMeanwhile.class);
        assertThat(stored.countDocuments()).isZero();
    }

    @Test
    void givenTheyDeletedTheDocument_whenTheHandlerWantsIt_thenItIsMadeAgainWithAGreaterVersion()
            throws InterruptedException {
        posts.delete(theirs);

        ChangeResult<Document> outcome = posts.merge(base, mine.append("title", "Mine"), MergePolicy.Conflict::mine);

        assertThat(outcome).isInstanceOf(ChangeResult.Created.class);
        assertThat(load()).containsEntry("title", "Mine").containsEntry("version", 2);
    }

    @Test
    void givenIDeleteAndTheyChanged_whenMergedByTheDefault_thenItIsDeleted() throws InterruptedException {
        posts.replace(theirs.append("title", "Theirs"));

        assertThat(posts.mergeDeletion(base, MergePolicy.MINE_UNLESS_DELETED)).isInstanceOf(ChangeResult.Deleted.class);
        assertThat(stored.countDocuments()).isZero();
    }

    @Test
    void givenIDeleteAndTheyChanged_whenThePolicyKeepsTheirs_thenItStays() throws InterruptedException {
        posts.replace(theirs.append("title", "Theirs"));

        assertThat(posts.mergeDeletion(base, MergePolicy.THEIRS)).isInstanceOf(ChangeResult.Unchanged.class);
        assertThatThrownBy(() -> posts.mergeDeletion(base, MergePolicy.REFUSE))
                .isInstanceOf(OptimisticLockException.class);
        assertThat(load()).containsEntry("title", "Theirs");
    }

    @Test
    void givenBothDeleteTheDocument_whenMerged_thenTheyAgree() throws InterruptedException {
        posts.delete(theirs);

        assertThat(posts.mergeDeletion(base, MergePolicy.REFUSE)).isInstanceOf(ChangeResult.DeletedMeanwhile.class);
    }

    @Test
    void givenNobodyElse_whenDeletionIsMerged_thenDeleted() throws InterruptedException {
        assertThat(posts.mergeDeletion(base, MergePolicy.REFUSE)).isInstanceOf(ChangeResult.Deleted.class);
    }
}
